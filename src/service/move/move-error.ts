// The error of `docmount migrate`: its message is shown as it is.

import { ToldError } from '../../told-error.ts'

/** A move that cannot be made, in one sentence. */
export class MoveError extends ToldError {
  override readonly name = 'MoveError'
}
