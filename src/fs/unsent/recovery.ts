// After a restart: the view shows what the journal says is wanted, before the service has heard of it.

import type { CommitQueue } from '../../content/commit/commit-queue.ts'
import { digestOf, digestOfBytes, isSameDigest, withDigest } from '../../content/digest.ts'
import type { Intention } from '../../content/intention.ts'
import type { Journal } from '../../content/spool/journal.ts'
import type { Spool } from '../../content/spool/spool.ts'
import { longBytes } from '../../content/spool/spool-file.ts'
import { nameOf } from '../../path.ts'
import type { Clock } from '../../world/clock.ts'
import { isHiddenName, isLocalName } from '../tree/scratch.ts'
import { isInTrash } from '../tree/trash.ts'
import type { Claims } from './claims.ts'
import type { LocalOnly } from './local-only.ts'
import { ensureFolder, place, restore, restoreContent, showStored, type RestoreParts } from './restore.ts'

interface RestoreContentsParts {
  readonly journal: Journal
  readonly spool: Spool
  readonly claims: Claims
}

export interface RecoverParts extends RestoreParts {
  readonly queue: CommitQueue
  readonly localOnly: LocalOnly
  readonly clock: Clock
}

/** Puts everything that is true only here back into the tree, then lets the queue go on. */
export async function recover(parts: RecoverParts): Promise<void> {
  restoreContents(parts)
  const intentions = parts.journal.intentions.all()
  for (const intention of intentions) await rememberWhatWasSent(parts, intention)
  parts.queue.resume(intentions)
  for (const job of parts.queue.jobs()) restore(parts, job)
  // After what came to their names, and left them, before they were made.
  for (const path of parts.journal.folders.all()) {
    const folder = ensureFolder(parts.tree, path)
    folder.folder?.makeHere()
    if (isInTrash(path)) folder.folder?.makeOnlyHere()
    parts.tree.places.settleSince(folder, parts.clock.steady())
    parts.tree.places.keep(folder)
  }
  // Last: a backup may share its content with what is on its way, and keeps it.
  for (const row of parts.journal.localFiles.all()) {
    // libfuse 2 renames what is unlinked while open; the last close, which removes it, did not come.
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
    // The program that made a temporary file of another name has lost it: that is sent at once.
    parts.localOnly.found(node, !isLocalName(node.name))
  }
  if (intentions.length > 0)
    parts.log.info({ intentions: intentions.length }, 'going on with what an earlier run left unsent')
}

/** A power cut may have left less in the spool than in the journal. */
function restoreContents(parts: RestoreContentsParts): void {
  const saved = new Map(parts.journal.intentions.all().map(({ spool, digest }) => [spool, digest]))
  for (const { spool, bytes } of parts.journal.contents.all()) {
    const digest = saved.get(spool)
    if (!parts.claims.has(spool)) parts.journal.contents.remove(spool)
    else if (digest === undefined || isSameDigest(digestOfBytes(bytes), digest))
      parts.spool.restore(spool, bytes)
  }
}

/** Content that was on its way when the last run ended may have arrived: its digest tells it from another client's version. */
async function rememberWhatWasSent(
  { spool, log }: Pick<RecoverParts, 'spool' | 'log'>,
  intention: Intention,
): Promise<void> {
  if (intention.kind !== 'put' || intention.spool === undefined) return
  if (intention.digest !== undefined) {
    intention.sentDigests = withDigest(intention.sentDigests, intention.digest)
    return
  }
  // Journaled by a docmount that kept no digests, or mostly holes.
  try {
    const content = spool.get(intention.spool)
    // The drive waits for this. It is read when there is something to compare it with.
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
