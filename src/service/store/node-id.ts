// Ids of nodes: uuids that begin with the time (version 7, RFC 9562), so that nodes made together are neighbours in the index of
// ids. Each random id would touch another page of it.

import { randomUUID } from 'node:crypto'

const timeDigits = 12

/** `now`: milliseconds since the epoch. */
export function createNodeId(now: number): string {
  // From the version digit on, a random uuid has what is left of this one.
  const time = now.toString(16).padStart(timeDigits, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
}
