// The error of a command line that is wrong: arguments, options, environment variables. Exit code 2.

import { ExpectedError } from '../expected-error.ts'

/** `message` is one line that says how to write it instead. */
export class UsageError extends ExpectedError {
  override readonly name = 'UsageError'
  override readonly isUsage = true
}
