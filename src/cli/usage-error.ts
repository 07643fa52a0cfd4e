// A command line that asks for something it cannot have. Exit code 2.

/** One line that says how to write it instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
