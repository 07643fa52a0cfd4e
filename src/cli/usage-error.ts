// The error of a command line that is wrong: arguments, options, environment variables. Exit code 2.

/** `message` is one line that says how to write it instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
