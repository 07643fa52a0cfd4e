// The end of an answer, for whoever counts or keeps something until then.

import type { ServerResponse } from 'node:http'

/** Runs `step` when the answer is closed; at once where it is already: a sender may go while the database is asked, and no event follows. */
export function whenClosed(answer: ServerResponse, step: () => void): void {
  if (answer.closed) step()
  else answer.once('close', step)
}
