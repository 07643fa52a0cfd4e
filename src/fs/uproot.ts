// A document leaves its path: what is pending there is taken back where that is still possible, and the node remembers
// where the service has it, so that its next commit moves it from there.

import { fingerprintOf } from '../content/fingerprint.ts'
import { refer } from './content.ts'
import type { Node } from './node.ts'
import type { Superblock } from './superblock.ts'

/** What the service has, or may get, at the path a node left: that name has to be hidden until it is gone. */
export interface LeftBehind {
  readonly fingerprint: string | undefined
}

export function uproot(sb: Superblock, node: Node): LeftBehind | undefined {
  const { path, job, remote } = node
  const stored: LeftBehind | undefined =
    remote !== undefined && node.storedPath === path ? { fingerprint: fingerprintOf(remote) } : undefined
  if (job !== undefined && job.intention.path === path) {
    if (!sb.queue.withdraw(job)) {
      return arriving(sb, node)
    }
    sb.owners.delete(job.intention.id)
    node.job = undefined
    node.submittedEpoch = -1
    if (sb.queue.find(path)?.intention.kind === 'put') return arriving(sb, node)
  }
  if (remote !== undefined) refer(sb, node, node.storedPath ?? path)
  return stored ?? dropReplaced(sb, node)
}

/** Something of it is on its way to its old path: it arrives there first, and is moved on after that. */
function arriving(sb: Superblock, node: Node): LeftBehind {
  node.isCopy = false
  refer(sb, node, node.path)
  return { fingerprint: undefined }
}

/** The version this node was to replace at its path, and now will not, has to go all the same. */
function dropReplaced(sb: Superblock, { path, base }: Node): LeftBehind | undefined {
  if (base === undefined) return undefined
  if (sb.queue.find(path)?.intention.kind !== 'delete') sb.queue.submit({ kind: 'delete', path, base })
  return { fingerprint: base }
}
