// Functions that read state folders without a daemon. Loaded on first use: most commands need none.

import type { removeEmptyState } from '../content/spool/empty-state.ts'
import type { readJournal } from '../content/spool/journal-reading.ts'
import type { LostAndFound, strayIn } from '../content/spool/lost-and-found.ts'

export interface StateReaders {
  readonly removeEmptyState: typeof removeEmptyState
  readonly readJournal: typeof readJournal
  readonly LostAndFound: typeof LostAndFound
  readonly strayIn: typeof strayIn
}

/** Loads them. A daemon does so at its start: at its end the program on disk may have been replaced or removed. */
export async function stateReaders(): Promise<StateReaders> {
  const [folder, journal, lost] = await Promise.all([
    import('../content/spool/empty-state.ts'),
    import('../content/spool/journal-reading.ts'),
    import('../content/spool/lost-and-found.ts'),
  ])
  return { ...folder, ...journal, ...lost }
}
