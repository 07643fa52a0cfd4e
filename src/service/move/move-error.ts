/** A move that cannot be made, in one sentence. */
export class MoveError extends Error {
  override readonly name = 'MoveError'
}
