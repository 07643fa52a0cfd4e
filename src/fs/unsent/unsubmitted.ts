// Whether a document's content is what the queue was last handed.

import type { Node } from '../tree/node.ts'

/** True when the content changed since it was last handed to the queue. */
export function isUnsubmitted(node: Node): boolean {
  if (node.content === undefined) return node.unsent.isCopy && node.job === undefined
  return node.isDirty && !node.unsent.isOf(node.content)
}
