// The error of a command line that is wrong: arguments, options, environment variables. Exit code 2.

import { ToldError } from '../told-error.ts'

/** `message` is one line that says how to write it instead. */
export class UsageError extends ToldError {
  override readonly name = 'UsageError'
  override readonly isUsage = true
}
