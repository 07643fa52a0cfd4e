// Content the service has by now is cached content: the spool lets go of it.

import { blockSizeBytes } from '../../content/extent.ts'
import { rebindReaders } from './content.ts'
import type { Node } from '../tree/node.ts'
import type { Superblock } from '../superblock.ts'

/** What the service has too need not be kept here as local content: the cache takes the file over. */
export function giveToCache(sb: Superblock, node: Node): void {
  const { content, version } = node
  if (content === undefined || version === undefined || node.isScratch || node.isDirty) return
  // What a commit still carries, somebody may still write, or another node shows, stays.
  if (node.job !== undefined || node.door.writeHandles > 0 || !sb.claims.isOnlyOf(node)) return
  if (content.size <= blockSizeBytes) {
    sb.reader.keep(version, content.readAll())
    sb.claims.show(node, undefined)
    rebindReaders(sb, node)
    return
  }
  const handover = sb.claims
    .giveAway(node, () => sb.reader.adopt(version, content.path))
    .catch((error: unknown) => {
      sb.log.warn({ path: version.path, error: String(error) }, 'the cache did not take a document over')
    })
  node.local.handOver(handover)
  rebindReaders(sb, node)
}
