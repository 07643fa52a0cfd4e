// Files kept on this machine may be taken away under a running drive: by a cleaner, a person, a restored backup. It is
// looked for where it was put, and written again of what is still held; a document of which nothing is held is named.

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
  readonly trouble: DamageReports
}

export interface RefillParts extends LocalRowParts {
  readonly spool: Spool
  readonly queue: CommitQueue
  readonly tree: Tree
  readonly attributes: AttributeStore
  readonly conflicts: ConflictCopies
}

/** All that the journal is to say, from memory, which says the same: for the transaction under way. */
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

/** Never throws: what cannot be seen to now is told, and looked at again. */
export function checkStateDir({ journal, spool, queue, trouble }: StateDirParts): void {
  seeTo(() => journal.look())
  seeTo(() => spool.look())
  for (const job of queue.jobs()) {
    const { spool: id, path, isRefused } = job.intention
    if (id === undefined || isRefused || !job.isIdle || !spool.isGone(id)) continue
    trouble.found(contentTakenAway)
    queue.refuse(job, damagedContent(path, 'it is gone'))
  }

  function seeTo(look: () => void): void {
    try {
      look()
    } catch (error) {
      const { message } = error as Error
      trouble.found(`the state folder cannot be written (${message}): nothing new is safe until it can be`)
    }
  }
}
