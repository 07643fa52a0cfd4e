// The error of `docmount migrate`: its message is shown as it is.

import { ExpectedError } from '../../expected-error.ts'

/** A move that cannot be made, in one sentence. */
export class MoveError extends ExpectedError {
  override readonly name = 'MoveError'
}
