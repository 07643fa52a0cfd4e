// A callback at the end of a response, for code that counts the response or keeps resources for it.

import type { ServerResponse } from 'node:http'

/**
 * Runs `step` when the response is closed. A client may leave during a database query: a response that is closed already emits no
 * event, so `step` runs at once.
 */
export function whenClosed(answer: ServerResponse, step: () => void): void {
  if (answer.closed) step()
  else answer.once('close', step)
}
