// Files of the state folder may be removed under a running drive: by a cleaner, a person, a restored backup. They are checked
// for, and written again from memory or an open file; a document whose content is gone is named.

import type { CommitQueue } from '../../content/commit/commit-queue.ts'
import { damagedContent } from '../../content/commit/carried.ts'
import type { Journal } from '../../content/spool/journal.ts'
import type { Spool } from '../../content/spool/spool.ts'
import type { ConflictCopies } from '../attention/conflict-copies.ts'
import type { AttributeStore } from '../tree/attribute-store.ts'
import type { Tree } from '../tree/tree.ts'
import type { DamageReports } from '../attention/damage-reports.ts'
import { saveLocalRow, type LocalRowParts } from './local-rows.ts'

export interface StateDirParts {
  readonly journal: Journal
  readonly spool: Spool
  readonly queue: CommitQueue
  readonly damageReports: DamageReports
}

export interface RefillParts extends LocalRowParts {
  readonly spool: Spool
  readonly queue: CommitQueue
  readonly tree: Tree
  readonly attributes: AttributeStore
  readonly conflicts: ConflictCopies
}

/** Writes all rows of the journal again from memory, in the transaction under way. */
export function refill(parts: RefillParts): void {
  const { journal, spool, queue, tree, attributes, conflicts } = parts
  for (const { intention } of queue.jobs()) journal.intentions.save(intention)
  spool.journalAgain()
  for (const node of tree.nodes.all()) {
    if (node.folder?.isMadeHere === true) journal.folders.save(node.path)
    else if (node.folder === undefined && node.isLocalOnly && !node.isUnlinked) saveLocalRow(parts, node)
  }
  attributes.saveAgain()
  conflicts.saveAgain()
}

export const contentTakenAway =
  'unsent content was taken away from the state folder while the drive was in use: what was still held is there again, what is gone is named as refused'

/** Checks the files, and restores those that are missing. Never throws: a failure is reported, and checked again later. */
export function checkStateDir({ journal, spool, queue, damageReports }: StateDirParts): void {
  attempt(() => journal.restoreFiles())
  attempt(() => spool.restoreFiles())
  for (const job of queue.jobs()) {
    const { spool: id, path, isRefused } = job.intention
    if (id === undefined || isRefused || !job.isIdle || !spool.isGone(id)) continue
    damageReports.report(contentTakenAway)
    queue.refuse(job, damagedContent(path, 'it is gone'))
  }

  function attempt(check: () => void): void {
    try {
      check()
    } catch (error) {
      const { message } = error as Error
      damageReports.report(
        `the state folder cannot be written (${message}): nothing new is safe until it can be`,
      )
    }
  }
}
