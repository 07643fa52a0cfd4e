// An error of the mount session, or of reaching it, with a message for the user at the command line.

import { ExpectedError } from '../expected-error.ts'

/** One line that says what to do. `isTemporary`: the same command may succeed later with nothing changed. */
export class DaemonError extends ExpectedError {
  override readonly name = 'DaemonError'
  override readonly isTemporary: boolean

  constructor(message: string, options: { isTemporary?: boolean; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause })
    this.isTemporary = options.isTemporary ?? false
  }
}
