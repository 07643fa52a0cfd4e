// Content the service has by now is cached content: the spool lets go of it.

import { blockSizeBytes } from '../../content/extent.ts'
import { rebindReaders } from './content.ts'
import type { Node } from '../tree/node.ts'
import type { Reader } from '../../content/read/reader.ts'
import type { Log } from '../../log.ts'
import type { HandleTable } from '../tree/handles.ts'
import type { Claims } from './claims.ts'

export interface CacheParts {
  readonly claims: Claims
  readonly reader: Reader
  readonly handles: HandleTable
  readonly log: Log
}

/** What the service has too need not be kept here as local content: the cache takes the file over. */
export function giveToCache(parts: CacheParts, node: Node): void {
  const { content, version } = node
  if (content === undefined || version === undefined || node.isScratch || node.isDirty) return
  // What a commit still carries, somebody may still write, or another node shows, stays.
  if (node.job !== undefined || node.door.writeHandles > 0 || !parts.claims.isOnlyOf(node)) return
  if (content.size <= blockSizeBytes) {
    parts.reader.keep(version, content.readAll())
    parts.claims.show(node, undefined)
    rebindReaders(parts.handles, node)
    return
  }
  const handover = parts.claims
    .giveAway(node, () => parts.reader.adopt(version, content.path))
    .catch((error: unknown) => {
      parts.log.warn({ path: version.path, error: String(error) }, 'the cache did not take a document over')
    })
  node.local.handOver(handover)
  rebindReaders(parts.handles, node)
}
