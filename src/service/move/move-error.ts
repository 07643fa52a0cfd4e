// The error of `docmount migrate`: its message is shown as it is.

/** A move that cannot be made, in one sentence. */
export class MoveError extends Error {
  override readonly name = 'MoveError'
}
