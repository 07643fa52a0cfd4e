// The journal's rows of files that are on this machine only.

import type { Journal } from '../../content/spool/journal.ts'
import type { Spool } from '../../content/spool/spool.ts'
import type { Node } from '../tree/node.ts'
import type { LocalOnly } from './local-only.ts'

export interface LocalRowParts {
  readonly journal: Journal
  readonly spool: Spool
  readonly localOnly: LocalOnly
}

/** Makes a local-only file survive a restart. */
export async function persistScratch(parts: LocalRowParts, node: Node): Promise<void> {
  const { content } = node
  const epoch = content?.epoch
  await content?.sync()
  if (node.isUnlinked || !node.isScratch) return
  saveScratchRow(parts, node)
  if (epoch !== undefined) node.local.saved(epoch)
}

/** The journaling half of it, for a transaction of the caller's: the content is synced already. */
export function saveScratchRow(parts: LocalRowParts, node: Node): void {
  const { content, version } = node
  const reference = content === undefined && version !== undefined ? version : undefined
  // What the journal has of it is of when it was a document, and would be put over what was written since.
  if (content?.isSynced === true) parts.spool.leaveJournal(content)
  parts.journal.localFiles.save({ path: node.path, spool: content?.id, reference })
  parts.localOnly.changed(node)
}
