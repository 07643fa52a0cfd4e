// The error of a command that cannot do what it was asked to. Exit code 1, or 75 where it is temporary.

import { ExpectedError } from '../expected-error.ts'

/** `message` is one line for the person at the terminal. `isTemporary`: the same command may succeed later. */
export class CommandError extends ExpectedError {
  override readonly name = 'CommandError'
  override readonly isTemporary: boolean

  constructor(
    message: string,
    { isTemporary = false, cause }: { isTemporary?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.isTemporary = isTemporary
  }
}
