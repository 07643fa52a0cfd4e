// Steps for a move that the service refused, when a newer change waits for the path that the move was to leave: its content is
// copied to this machine, so that it takes nothing away there any more, and delays nothing.

import type { CarriedContent, Intention } from '../../content/intention.ts'
import type { Spool } from '../../content/spool/spool.ts'
import type { SpoolFile } from '../../content/spool/spool-file.ts'
import type { AttributeStore } from '../tree/attribute-store.ts'
import type { Node } from '../tree/node.ts'
import type { Journal } from '../../content/spool/journal.ts'
import type { RemoteContent } from '../tree/remote-content.ts'
import { isGone } from './bring-here.ts'
import type { Claims } from './claims.ts'
import { forgetStored, takeContent, type TakeContentParts } from './content.ts'
import type { Owners } from './owners.ts'

export interface MaterializeParts {
  readonly spool: Spool
  readonly claims: Claims
  readonly owners: Owners
  readonly remote: RemoteContent
}

export interface MoveDetachedParts extends TakeContentParts {
  readonly journal: Journal
  readonly spool: Spool
  readonly owners: Owners
  readonly attributes: AttributeStore
}

/** Calls `take` with the content, which does not change meanwhile. Throws if it cannot be fetched now. */
export async function materialize(
  parts: MaterializeParts,
  intention: Intention,
  take: (content: CarriedContent) => void,
  signal: AbortSignal,
): Promise<void> {
  const node = parts.owners.of(intention)
  const hasContent = intention.spool !== undefined || intention.isCopied
  const content = hasContent || node === undefined ? undefined : await contentOf(parts, node, signal)
  // The change carries its content already, or no document here shows the version: only the old path is left.
  if (content === undefined) return take({})
  await parts.claims.hold(content, async () => {
    await parts.spool.secure(content)
    take({ spool: content.id, size: content.size, digest: content.digest })
  })
}

/** Fetches the version that was to be moved into a file of its own; undefined if it is gone. */
async function contentOf(
  parts: MaterializeParts,
  node: Node,
  signal: AbortSignal,
): Promise<SpoolFile | undefined> {
  const { version } = node
  if (version === undefined) return undefined
  const file = parts.spool.create(node.name)
  try {
    if (version.size !== 0) await file.fill((fd) => parts.remote.copyTo(node, fd, { signal }))
    return file
  } catch (error) {
    await parts.spool.remove(file.id)
    if (isGone(error)) return undefined
    throw error
  }
}

/** Makes the node show the content that was fetched; part of the transaction that journals it. */
export function moveDetached(parts: MoveDetachedParts, intention: Intention): void {
  const { id, path, spool } = intention
  const node = parts.owners.of(intention)
  if (spool !== undefined) parts.spool.journal(parts.spool.get(spool), path)
  if (node === undefined || node.job?.intention.id !== id) return
  if (spool !== undefined) return showCarried(parts, node, spool)
  // The node must not show the version that is at the old path by now.
  parts.tree.versions.atOwnPath(node)
}

/** Makes the node show the content of its newest change, which may have been another change's; part of a transaction. */
export function showCarried(parts: MoveDetachedParts, node: Node, spool: string): void {
  if (node.content === undefined) {
    const content = parts.spool.get(spool)
    takeContent(parts, node, content)
    parts.owners.handIn(node, node.job, { content, epoch: content.epoch })
  }
  forgetStored(parts, node)
  parts.attributes.save(node)
}
