// Base class of expected errors, which are not bugs: the command line prints the message alone, without a stack.

/** The message is one line for the user. */
export abstract class ExpectedError extends Error {
  /** An argument, an option or a setting is wrong: exit code 2. */
  readonly isUsage: boolean = false
  /** True if the same command may succeed later without any change: exit code 75. */
  readonly isTemporary: boolean = false
}
