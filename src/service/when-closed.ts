// A callback at the end of a response, for code that counts or holds something until then.

import type { ServerResponse } from 'node:http'

/** Runs `step` when the response is closed. An already closed one emits no event, so `step` runs at once: a client may leave during a database query. */
export function whenClosed(answer: ServerResponse, step: () => void): void {
  if (answer.closed) step()
  else answer.once('close', step)
}
