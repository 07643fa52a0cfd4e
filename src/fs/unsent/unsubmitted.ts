// Tests for documents whose content changed since it was last submitted to the queue.

import type { Node } from '../tree/node.ts'

/** True if the content changed since it was last submitted; also for a copy that the service is to make, until it is submitted. */
export function isUnsubmitted(node: Node): boolean {
  if (node.content === undefined) return node.unsent.isCopy && node.job === undefined
  return node.isDirty && !node.unsent.isOf(node.content)
}

/** True for a document whose next close commits it anyway. */
export function isBeingWritten(node: Node): boolean {
  return node.door.writeHandles > 0 && isUnsubmitted(node)
}
