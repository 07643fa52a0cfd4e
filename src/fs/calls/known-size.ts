// Documents whose listing does not tell their size (interface: `size` and `url` may both be absent): the document itself is
// asked before anybody is told a size.

import { abortable } from '../../abortable.ts'
import { ErrnoError } from '../../errno-error.ts'
import type { Node } from '../tree/node.ts'
import type { Caller, MaybePromise } from '../operations.ts'
import type { Superblock } from '../superblock.ts'

/** No operation but a waiting close may block longer than 15 s. */
const deadlineMs = 14_000
const asking = new WeakMap<Node, Promise<void>>()

/** Applies `use` when the node's size is known, at once where it is; or when the service was asked and does not tell it. */
export function withKnownSize<T>(
  sb: Superblock,
  node: Node,
  caller: Caller,
  use: () => MaybePromise<T>,
): MaybePromise<T> {
  if (!isToBeAsked(sb, node)) return use()
  let answer = asking.get(node)
  if (answer === undefined) {
    answer = ask(sb, node).finally(() => asking.delete(node))
    asking.set(node, answer)
  }
  return abortable(answer, caller.signal).then(use)
}

/** True where the service's listing tells no size, and the document was not asked within one cache lifetime. */
function isToBeAsked(sb: Superblock, node: Node): boolean {
  if (node.remote === undefined || node.content !== undefined || node.job !== undefined) return false
  const { askedWholeAt } = node.stored
  if (node.size !== undefined && (askedWholeAt === undefined || sb.files.reach.isAway)) return false
  return askedWholeAt === undefined || sb.clock.steady() - askedWholeAt > sb.settings.cacheTtlMs
}

async function ask(sb: Superblock, node: Node): Promise<void> {
  const path = node.storedPath
  if (path === undefined) return
  const askedAt = sb.clock.steady()
  const found = await sb.files.get(path, { deadlineMs })
  if (found.kind !== 'file' || node.storedPath !== path || node.content !== undefined) return
  sb.tree.completed(node, found, askedAt)
  const { version } = node
  if (version === undefined || (version.size !== undefined && found.modifiedAt !== undefined)) return
  if (found.size !== undefined) return
  sb.urls.remember(path, found, askedAt)
  const size = await sb.reader.learnSize(version, AbortSignal.timeout(deadlineMs)).catch((error: unknown) => {
    // The service was asked, and does not tell: whoever reads it is told so.
    if (error instanceof ErrnoError && error.code === 'EIO') return undefined
    throw error
  })
  node.stored.learn(size)
}
