// Recovery at the start of a drive: puts the changes and files that an earlier run left in the journal back into the tree, and lets
// the queue go on with them. So programs find what they saved before the service has it.

import type { CommitQueue } from '../../content/commit/commit-queue.ts'
import { digestOf, digestOfBytes, isSameDigest, withDigest } from '../../content/digest.ts'
import type { Intention } from '../../content/intention.ts'
import type { LateChange, LateFiles } from '../../content/commit/late-files.ts'
import type { Journal } from '../../content/spool/journal.ts'
import type { SavedListings } from '../../content/spool/saved-listings.ts'
import type { Spool } from '../../content/spool/spool.ts'
import { longBytes } from '../../content/spool/spool-file.ts'
import { nameOf } from '../../path.ts'
import type { Clock } from '../../world/clock.ts'
import { isHiddenName, isLocalName } from '../tree/scratch.ts'
import { isInTrash } from '../tree/trash.ts'
import type { Settings } from '../settings.ts'
import type { Claims } from './claims.ts'
import type { LocalOnly } from './local-only.ts'
import {
  ensureFolder,
  place,
  restore,
  restoreAgreed,
  restoreContent,
  showStored,
  type RestoreParts,
} from './restore.ts'

interface RestoreContentsParts {
  readonly journal: Journal
  readonly spool: Spool
  readonly claims: Claims
}

export interface RecoverParts extends RestoreParts {
  readonly queue: CommitQueue
  readonly changing: LateFiles
  readonly localOnly: LocalOnly
  readonly clock: Clock
  readonly saved: Pick<SavedListings, 'agreedAfter'>
  readonly settings: Pick<Settings, 'cacheTtlMs'>
}

/** Changes that the last run may have sent, and that the service may come to only now. */
function underWay({ sentDeletes }: Journal, intentions: readonly Intention[]): LateChange[] {
  return [
    ...intentions.map(({ path, source }): LateChange => ({ verb: 'put', path, source })),
    ...sentDeletes.all().map((path): LateChange => ({ verb: 'delete', path })),
  ]
}

/**
 * Puts everything that the journal has back into the tree: unsent changes, folders made here, local-only files, in this order. Last
 * come changes that listings may not show yet.
 */
export async function recover(parts: RecoverParts): Promise<void> {
  restoreContents(parts)
  const intentions = parts.journal.intentions.all()
  for (const intention of intentions) await countAsSent(parts, intention)
  parts.changing.mayArrive(underWay(parts.journal, intentions))
  parts.queue.resume(intentions)
  for (const job of parts.queue.jobs()) restore(parts, job)
  // After the changes: a document that was moved or deleted may have had a folder's name before.
  for (const path of parts.journal.folders.all()) {
    const folder = ensureFolder(parts.tree, path)
    folder.folder?.makeHere()
    if (isInTrash(path)) folder.folder?.makeOnlyHere()
    parts.tree.places.keep(folder)
    parts.tree.places.settleSince(folder)
  }
  // Last: a backup may share its spool file with an unsent change, and must keep it.
  for (const row of parts.journal.localFiles.all()) {
    // libfuse 2 renames a file that is unlinked while open, and removes it at the last close, which did not come.
    if (isHiddenName(nameOf(row.path))) {
      parts.journal.localFiles.remove(row.path)
      continue
    }
    const node = place(parts, row.path)
    node.local.markLocalOnly({
      isMadeTemporary: row.isMadeTemporary === true,
      isCutOff: row.isCutOff === true,
    })
    if (row.spool !== undefined) restoreContent(parts, node, row.spool)
    else if (row.reference !== undefined) showStored(parts.tree, node, row.reference)
    node.local.saved()
    // A temporary file that is no program's own by its name is checked at once: the program that made it has ended.
    parts.localOnly.found(node, !isLocalName(node.name))
  }
  const { saved, clock, settings } = parts
  const [wall, steady] = [clock.wall(), clock.steady()]
  for (const change of saved.agreedAfter(wall - settings.cacheTtlMs)) {
    // By a clock that was set back since it is still to come.
    const agoMs = Math.max(0, wall - (change.agreed?.at ?? 0))
    restoreAgreed(parts, change, steady - agoMs)
  }
  if (intentions.length > 0)
    parts.log.info({ intentions: intentions.length }, 'going on with what an earlier run left unsent')
}

/** Writes small contents from the journal into the spool, whose files a power cut may have lost. */
function restoreContents(parts: RestoreContentsParts): void {
  const saved = new Map(parts.journal.intentions.all().map(({ spool, digest }) => [spool, digest]))
  for (const { spool, bytes } of parts.journal.contents.all()) {
    const digest = saved.get(spool)
    if (!parts.claims.has(spool)) parts.journal.contents.remove(spool)
    else if (digest === undefined || isSameDigest(digestOfBytes(bytes), digest))
      parts.spool.restore(spool, bytes)
  }
}

/** Counts an intention's content as sent, since it may have arrived: its digest then tells it from another client's version. */
async function countAsSent(
  { spool, log }: Pick<RecoverParts, 'spool' | 'log'>,
  intention: Intention,
): Promise<void> {
  if (intention.kind !== 'put' || intention.spool === undefined) return
  if (intention.digest !== undefined) {
    intention.sentDigests = withDigest(intention.sentDigests, intention.digest)
    return
  }
  // Without a digest: journaled by an older docmount, or a long sparse file.
  try {
    const content = spool.get(intention.spool)
    // The start waits for this, so long content is read only when there is a version to compare it with.
    if (content.size > longBytes) return content.idle()
    intention.sentDigests = withDigest(intention.sentDigests, await digestOf(content.stream()))
    content.idle()
  } catch (error) {
    log.error(
      { path: intention.path, error: String(error) },
      'the spooled content of this document cannot be read',
    )
  }
}
