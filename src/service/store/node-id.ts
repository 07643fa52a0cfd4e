// Ids of nodes: uuids that begin with the time (version 7, RFC 9562), so that what is made together lies together in the
// index of ids. Random ones touch a page of their own each.

import { randomUUID } from 'node:crypto'

const timeDigits = 12

/** `now`: milliseconds since the epoch. */
export function createNodeId(now: number): string {
  const time = now.toString(16).padStart(timeDigits, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
}
