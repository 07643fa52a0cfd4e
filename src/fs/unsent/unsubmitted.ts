// Documents whose content changed since the queue was last handed it.

import type { Node } from '../tree/node.ts'

/** True when the content changed since it was last handed to the queue. */
export function isUnsubmitted(node: Node): boolean {
  if (node.content === undefined) return node.unsent.isCopy && node.job === undefined
  return node.isDirty && !node.unsent.isOf(node.content)
}

/** True for a document whose next close commits it anyway. */
export function isBeingWritten(node: Node): boolean {
  return node.door.writeHandles > 0 && isUnsubmitted(node)
}
