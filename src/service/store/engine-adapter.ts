// Operations that each engine of the store does in its own way.

import { type DialectAdapter, type Kysely, type RawBuilder, SqliteAdapter, sql } from './kysely.ts'
import { KeyedLock } from '../blobs/keyed-lock.ts'

export interface EngineAdapter extends DialectAdapter {
  /** Between a path and an id: what a deleted node is moved to is no path of another, and sorts ahead of what is below it. */
  readonly aside: RawBuilder<string>
  /** Runs what changes a project; where changes of one project hold others up, when it is its turn. */
  inTurn<Result>(projectId: string, work: () => Promise<Result>): Promise<Result>
  /** By id: whoever adds rows a few at a time has the table alone, and who waits for that holds nothing. */
  readonly tables: KeyedLock
  /** Runs a transaction that is open for long, when it is its turn. Absent where an open one holds up everybody. */
  inLongTurn?<Result>(work: () => Promise<Result>): Promise<Result>
}

export function engineOf<Tables>(store: Kysely<Tables>): EngineAdapter {
  return store.getExecutor().adapter as EngineAdapter
}

export class EmbeddedAdapter extends SqliteAdapter implements EngineAdapter {
  readonly aside: RawBuilder<string> = sql`'/' || char(0)`
  readonly tables: KeyedLock = new KeyedLock()

  /** There is one writer, with a queue of its own. */
  inTurn<Result>(_projectId: string, work: () => Promise<Result>): Promise<Result> {
    return work()
  }
}
