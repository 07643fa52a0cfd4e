// An error that docmount raises itself while it serves a drive, with the POSIX errno that the kernel is to get.

import { ExpectedError } from './expected-error.ts'

/** Carries an errno by name, as Node's system errors do. `fs/errno-of.ts` passes it on to the kernel. */
export class ErrnoError extends ExpectedError {
  override readonly name = 'ErrnoError'
  /** `ENOENT`, `ENOTEMPTY`, … */
  readonly code: string

  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(`${code}: ${withoutErrno(message)}`, options)
    this.code = code
  }
}

/** Returns the message without the errno in front of it, which means nothing to most people. */
export function withoutErrno(message: string): string {
  return message.replace(/^(?:E[A-Z\d]+: )+/, '')
}
