// Another client's version takes the place of content that is here and in the service: the drive shows theirs. A
// handle on the older version never reads bytes of the newer one (`FileHandle.checkCurrent`).

import type { Node } from '../tree/node.ts'
import type { Claims } from './claims.ts'

/** Called when another version was found: drops content that is saved, and kept only because a program may write on. */
export function overtaken(claims: Claims, node: Node): void {
  if (node.content === undefined || node.isDirty || node.job !== undefined || node.isLocalOnly) return
  claims.show(node, undefined)
}
