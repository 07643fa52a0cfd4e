// What the journal of a daemon that is gone still holds. Only for a state folder nobody uses: the journal is locked
// while it is read.

import { access } from 'node:fs/promises'
import { join } from 'node:path'
import type { Unsent } from '../fs/status.ts'
import { unsentOf } from '../fs/unsent/unsent-of.ts'

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
      .map((intention) =>
        unsentOf(intention, { isRunning: false, now: Date.now(), spoolDir: join(stateDir, 'spool') }),
      )
  } finally {
    journal.close()
  }
}
