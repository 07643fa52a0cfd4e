// Moves content that the service has by now from the spool to the cache.

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

/**
 * Gives content that the service has, too, to the cache: it need not stay in the spool. The cache changes a large file in
 * place, so this waits until no row can name the file any more.
 */
export function giveToCache(parts: CacheParts, node: Node): void {
  const { content, version } = node
  if (content === undefined || version === undefined || !mayGo(parts, node)) return
  if (content.size > blockSizeBytes) {
    parts.claims.onceUnnamed(content, () => {
      if (node.content === content && mayGo(parts, node)) handOver(parts, node)
    })
    return
  }
  parts.reader.keep(version, content.readAll())
  parts.claims.show(node, undefined)
  rebindReaders(parts.handles, node)
}

/** False while a commit carries the content, a program may write it, or another node shows it. */
function mayGo({ claims }: CacheParts, node: Node): boolean {
  if (node.isLocalOnly || node.isDirty || node.isUnlinked || node.job !== undefined) return false
  return node.door.writeHandles === 0 && claims.isOnlyOf(node)
}

function handOver(parts: CacheParts, node: Node): void {
  const { content, version } = node
  if (content === undefined || version === undefined) return
  const handover = parts.claims
    .giveAway(node, () => parts.reader.adopt(version, content.path))
    .catch((error: unknown) => {
      parts.log.warn({ path: version.path, error: String(error) }, 'the cache did not take a document over')
    })
  node.local.handOver(handover)
  rebindReaders(parts.handles, node)
}
