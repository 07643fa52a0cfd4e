// An error by which a driver refuses a request itself: for a name that is not UTF-8, or a flag that is not supported.

/** `code` is the errno's name, which is answered to the kernel as for any error of the filesystem. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly code: string

  constructor(code: string, message: string) {
    super(`${code}: ${message}`)
    this.code = code
  }
}
