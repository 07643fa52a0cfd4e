// Why a service does not start, in words for the person who starts it.

/** One line that says what to do. */
export class StartError extends Error {
  override readonly name = 'StartError'
}
