// Transactions, and the meaning of the engines' error codes.

import { setTimeout as sleep } from 'node:timers/promises'
import { type Kysely, type Transaction, sql } from './kysely.ts'
import { ServiceError } from '../service-error.ts'
import { codeOf } from './connection.ts'
import { engineOf } from './engine-adapter.ts'

const attempts = 6
const pauseMs = 20
/** Interval of statements that keep an open transaction from PostgreSQL's idle timeout. */
const aliveMs = 10_000
/** PostgreSQL: serialisation failure, deadlock, a row just deleted or added. SQLite has one writer and no collisions. */
const collisions = new Set(['40001', '40P01', '23503'])

/**
 * Runs `change` in one transaction, and repeats it after a collision with another. Throws ServiceError 503 after six collisions.
 */
export async function transact<Tables, Result>(
  store: Kysely<Tables>,
  change: (transaction: Transaction<Tables>) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await store.transaction().execute(change)
    } catch (error) {
      if (!isCollision(error)) throw error
      // The row referred to is gone: `app.ts` answers 404.
      if (attempt === attempts && isReferenceViolation(error)) throw error
      if (attempt === attempts)
        throw new ServiceError(503, 'others change the same all the time: try again', { cause: error })
    }
    await sleep(Math.random() * pauseMs * attempt)
  }
}

/** As `transact`, for a change of a project, when it is its turn. */
export function transactFor<Tables, Result>(
  store: Kysely<Tables>,
  projectId: string,
  change: (transaction: Transaction<Tables>) => Promise<Result>,
): Promise<Result> {
  return engineOf(store).inTurn(projectId, () => transact(store, change))
}

/** Runs one part of a change that is too long for one transaction. */
export type Step<Tables> = <Result>(
  change: (transaction: Transaction<Tables>) => Promise<Result>,
) => Promise<Result>

/**
 * Runs `work`, which makes a long change in steps; between steps it may use `store`, and other requests are served. On SQLite each
 * step is a transaction of its own. On PostgreSQL all steps are one: rows stay locked until the end, a collision repeats `work`.
 */
export function transactInSteps<Tables, Result>(
  store: Kysely<Tables>,
  work: (step: Step<Tables>) => Promise<Result>,
): Promise<Result> {
  const engine = engineOf(store)
  if (engine.inLongTurn === undefined) return work((change) => transact(store, change))
  return engine.inLongTurn(() =>
    transact(store, async (transaction) => {
      const alive = setInterval(() => void sql`select 1`.execute(transaction).catch(() => undefined), aliveMs)
      try {
        return await work((change) => change(transaction))
      } finally {
        clearInterval(alive)
      }
    }),
  )
}

/** True if a repetition may succeed. */
export function isCollision(error: unknown): boolean {
  return collisions.has(codeOf(error))
}

/** True if a unique constraint refused a row. */
export function isUniqueViolation(error: unknown): boolean {
  const code = codeOf(error)
  return code === 'SQLITE_CONSTRAINT_UNIQUE' || code === '23505'
}

/** True if a foreign key refused: an added row refers to a missing one, or a deleted row is still referred to. */
export function isReferenceViolation(error: unknown): boolean {
  const code = codeOf(error)
  return code === 'SQLITE_CONSTRAINT_FOREIGNKEY' || code === '23503'
}
