// Clean-up of the spool at the start: files that nothing claims.

import type { Journal } from '../../content/spool/journal.ts'
import type { LostAndFound } from '../../content/spool/lost-and-found.ts'
import { isTemporary, type Spool } from '../../content/spool/spool.ts'
import type { Log } from '../../log.ts'
import type { Clock } from '../../world/clock.ts'
import type { Notice } from '../notice.ts'
import type { Claims } from './claims.ts'

export interface SweepParts {
  readonly journal: Journal
  readonly spool: Spool
  readonly claims: Claims
  readonly lost: LostAndFound
  readonly clock: Clock
  readonly log: Log
  readonly tell: (notice: Notice) => void
}

/**
 * Removes unclaimed files that are empty, temporary, or not needed as the journal says. Moves all others to lost+found, and
 * notifies the person.
 */
export async function sweepSpool(parts: SweepParts): Promise<void> {
  const dropped = parts.journal.dropped.all()
  const now = new Date(parts.clock.wall())
  const stray: string[] = []
  for (const id of await parts.spool.ids()) {
    if (parts.claims.has(id)) continue
    if (dropped.has(id) || isTemporary(id) || parts.spool.get(id).size === 0) await parts.spool.remove(id)
    else stray.push(id)
  }
  for (const { file, path, name, bytes, savedBytes } of parts.lost.keep(parts.spool, stray, now)) {
    parts.log.warn(
      { file, path, name, bytes, savedBytes },
      'content that the journal does not know of is kept in lost+found: docmount recover --lost takes it out',
    )
    parts.tell({ kind: 'lost', path, file })
  }
  parts.journal.dropped.clear()
}
