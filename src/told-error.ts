// Base of the errors that are no bug.

/** Its message is one line for a person, printed without a stack. */
export abstract class ToldError extends Error {
  /** An argument, an option or a setting is wrong: exit code 2. */
  readonly isUsage: boolean = false
  /** The same may succeed later with nothing changed: exit code 75. */
  readonly isTemporary: boolean = false
}
