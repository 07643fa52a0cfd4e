// An error that `content/` or `fs/` decided itself and that already has its POSIX name.

/** Carries an errno by name, like Node's own system errors do. `errnoOf` passes the name on to the kernel. */
export class ErrnoError extends Error {
  override readonly name = 'ErrnoError'
  /** `ENOENT`, `ENOTEMPTY`, … */
  readonly code: string

  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(`${code}: ${withoutErrno(message)}`, options)
    this.code = code
  }
}

/** The sentence alone: to a person an errno in front of it says nothing. */
export function withoutErrno(message: string): string {
  return message.replace(/^(?:E[A-Z\d]+: )+/, '')
}
