// Readers of state folders that no daemon has. Loaded when first needed: a command mostly meets nothing to read.

import type { removeEmptyState } from '../content/spool/empty-state.ts'
import type { readJournal } from '../content/spool/journal-reading.ts'
import type { LostAndFound, strayIn } from '../content/spool/lost-and-found.ts'

export interface StateReaders {
  readonly removeEmptyState: typeof removeEmptyState
  readonly readJournal: typeof readJournal
  readonly LostAndFound: typeof LostAndFound
  readonly strayIn: typeof strayIn
}

/** A daemon asks for it at its start: at its end the program on disk may be another one, or none. */
export async function stateReaders(): Promise<StateReaders> {
  const [folder, journal, lost] = await Promise.all([
    import('../content/spool/empty-state.ts'),
    import('../content/spool/journal-reading.ts'),
    import('../content/spool/lost-and-found.ts'),
  ])
  return { ...folder, ...journal, ...lost }
}
