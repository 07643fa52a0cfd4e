// The journal's rows of local-only files. Each names the content that was accepted last: content written since then waits for
// its close, as that of a document does.

import type { Journal } from '../../content/spool/journal.ts'
import type { ScratchRow } from '../../content/spool/journal-rows.ts'
import type { SpoolFile } from '../../content/spool/spool-file.ts'
import type { Spool } from '../../content/spool/spool.ts'
import { rowOfLocalFile } from '../../content/spool/tables/local-files.ts'
import type { Node } from '../tree/node.ts'
import { isHiddenName } from '../tree/scratch.ts'
import type { Claims } from './claims.ts'
import type { LocalOnly } from './local-only.ts'
import { isBeingWritten } from './unsubmitted.ts'

export interface LocalRowParts {
  readonly journal: Journal
  readonly spool: Spool
  readonly claims: Claims
  readonly localOnly: LocalOnly
}

/** Makes a local-only file survive a restart, as it is now. */
export async function persistScratch(parts: LocalRowParts, node: Node): Promise<void> {
  const { content } = node
  if (content === undefined) {
    if (!node.isUnlinked && node.isLocalOnly) saveLocalRow(parts, node)
    return
  }
  // A write during the sync goes into a copy, which its own close saves.
  await parts.claims.hold(content, async () => {
    const { epoch } = content
    await content.sync()
    // A later close may have been faster.
    if (node.isUnlinked || !node.isLocalOnly) return
    if (node.content !== content && isNewerNamed(parts, node, content)) return
    saveLocalRow(parts, node, content)
    if (node.content === content) node.local.saved(epoch)
  })
}

function isNewerNamed({ journal, spool }: LocalRowParts, { path }: Node, { id, order }: SpoolFile): boolean {
  const named = journal.named.of(rowOfLocalFile(path))
  return named !== undefined && named !== id && spool.get(named).order > order
}

/** Journals a local-only file, in a transaction of the caller: its content is synced already. */
export function saveLocalRow(
  parts: LocalRowParts,
  node: Node,
  content: SpoolFile | undefined = node.content,
): void {
  const { version } = node
  // A kept backup without content here refers to the version that the service has at another path.
  const reference = content === undefined && version !== undefined ? version : undefined
  // Content in the journal dates from when the file was a document, and would replace what was written since.
  if (content?.isSynced === true) parts.spool.leaveJournal(content)
  const { isMadeTemporary, isCutOff } = node.local
  parts.journal.localFiles.save({
    path: node.path,
    spool: content?.id,
    reference,
    isMadeTemporary,
    isCutOff,
  })
  parts.localOnly.changed(node)
}

/** Called before a local-only file gets another name. Removes its row, and returns it for `arriveScratchRow`. */
export function leaveScratchRow({ journal }: LocalRowParts, { path }: Node): ScratchRow | undefined {
  const left = journal.localFiles.at(path)
  journal.localFiles.remove(path)
  return left
}

/**
 * Called when the file has its new name, and its content is synced. The row of a file that is being written keeps the former
 * content until its close.
 */
export function arriveScratchRow(parts: LocalRowParts, node: Node, left: ScratchRow | undefined): void {
  // A file that libfuse hides is deleted: the next start finds its row, and removes the content it names.
  if (!isBeingWritten(node) || isHiddenName(node.name)) return saveLocalRow(parts, node)
  if (left !== undefined) parts.journal.localFiles.save({ ...left, path: node.path })
  parts.localOnly.changed(node)
}
