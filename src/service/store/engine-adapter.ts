// Operations in which the engines of the store (SQLite, PostgreSQL) differ.

import { type DialectAdapter, type Kysely, type RawBuilder, SqliteAdapter, sql } from './kysely.ts'
import { KeyedLock } from '../blobs/keyed-lock.ts'

export interface EngineAdapter extends DialectAdapter {
  /**
   * SQL text between path and id of a node moved aside (`detached.ts`): no document has such a path, and it sorts before its
   * children.
   */
  readonly aside: RawBuilder<string>
  /** Runs a change of a project, on PostgreSQL when it is its turn: waiting changes of one project would use up the connections. */
  inTurn<Result>(projectId: string, work: () => Promise<Result>): Promise<Result>
  /** Locks by table id: a forward of many rows in several transactions has its table alone. Waiting takes no connection. */
  readonly tables: KeyedLock
  /** Runs a long transaction when it is its turn. Absent for SQLite, where an open transaction blocks all other writers. */
  inLongTurn?<Result>(work: () => Promise<Result>): Promise<Result>
}

export function engineOf<Tables>(store: Kysely<Tables>): EngineAdapter {
  return store.getExecutor().adapter as EngineAdapter
}

export class EmbeddedAdapter extends SqliteAdapter implements EngineAdapter {
  readonly aside: RawBuilder<string> = sql`'/' || char(0)`
  readonly tables: KeyedLock = new KeyedLock()

  /** No turns are needed: the one writer has a queue. */
  inTurn<Result>(_projectId: string, work: () => Promise<Result>): Promise<Result> {
    return work()
  }
}
