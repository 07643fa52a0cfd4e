// A move that the service refused, and something newer for the place it was to leave: its content comes here, so that it
// takes nothing away any more and holds nothing up.

import type { CarriedContent, Intention } from '../../content/intention.ts'
import type { SpoolFile } from '../../content/spool/spool.ts'
import type { Node } from '../tree/node.ts'
import type { Superblock } from '../superblock.ts'
import { forgetStored, isGone, takeContent } from './content.ts'

/** Hands `take` the content, which stays as it is meanwhile. Throws where it cannot be fetched now. */
export async function giveWay(
  sb: Superblock,
  intention: Intention,
  take: (content: CarriedContent) => void,
  signal: AbortSignal,
): Promise<void> {
  const node = sb.owners.of(intention)
  const hasContent = intention.spool !== undefined || intention.isProven
  const content = hasContent || node === undefined ? undefined : await contentOf(sb, node, signal)
  if (content === undefined) return take({})
  await sb.claims.hold(content, async () => {
    await sb.spool.secure(content)
    take({ spool: content.id, size: content.size, digest: content.digest })
  })
}

/** The version that was to be moved, in a file of its own; undefined where it is gone. */
async function contentOf(sb: Superblock, node: Node, signal: AbortSignal): Promise<SpoolFile | undefined> {
  const { version } = node
  if (version === undefined) return undefined
  const file = sb.spool.create(node.name)
  try {
    if (version.size !== 0) await file.use((fd) => sb.reader.copyTo(version, fd, { signal }))
    file.remeasure()
    return file
  } catch (error) {
    await sb.spool.remove(file.id)
    if (isGone(error)) return undefined
    throw error
  }
}

/** The node shows what was brought here; part of the transaction that journals it. */
export function gaveWay(sb: Superblock, intention: Intention): void {
  const { id, path, spool } = intention
  const node = sb.owners.of(intention)
  const content = spool === undefined ? undefined : sb.spool.get(spool)
  if (content !== undefined) sb.spool.journal(content, path)
  if (node === undefined || node.job?.intention.id !== id) return
  sb.journal.onRollback(node.remembered())
  if (content === undefined) {
    // Not what stands there by now.
    sb.tree.versions.isHome(node)
    return
  }
  if (node.content === undefined) {
    takeContent(sb, node, content)
    sb.owners.handIn(node, node.job, { content, epoch: content.epoch })
  }
  forgetStored(sb, node)
}
