// An error the driver itself decides: a name no filesystem may see, a flag nobody supports.

/** Carries the errno's name; answered to the kernel like any error of the filesystem. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly code: string

  constructor(code: string, message: string) {
    super(`${code}: ${message}`)
    this.code = code
  }
}
