// What the journal of a daemon that is gone still holds. Only for a state folder nobody uses: the journal is locked
// while it is read.

import { access } from 'node:fs/promises'
import { join } from 'node:path'
import type { Intention } from '../content/intention.ts'
import type { Unsent } from '../fs/status.ts'

/** Empty where there is no journal. Throws EBUSY when a daemon has it. */
export async function readLeftUnsent(stateDir: string): Promise<readonly Unsent[]> {
  const hasJournal = await access(join(stateDir, 'journal.db')).then(
    () => true,
    () => false,
  )
  if (!hasJournal) return []
  const { Journal } = await import('../content/spool/journal.ts')
  const journal = new Journal(stateDir)
  try {
    return journal
      .intentions()
      .filter(({ kind }) => kind !== 'prune')
      .map((intention) => unsentOf(intention, stateDir))
  } finally {
    journal.close()
  }
}

function unsentOf(intention: Intention, stateDir: string): Unsent {
  const { kind, path, base, source, size, isRefused, attempts, lastError, since, spool } = intention
  const putAction = source === undefined ? (base === undefined ? 'upload' : 'replace') : 'rename'
  return {
    path,
    action: kind === 'delete' ? 'delete' : putAction,
    state: isRefused ? 'refused' : 'pending',
    bytes: kind === 'delete' ? 0 : (size ?? 0),
    attempts,
    lastError,
    since: new Date(since).toISOString(),
    nextAttemptAt: undefined,
    spoolFile: spool === undefined ? undefined : join(stateDir, 'spool', spool),
  }
}
