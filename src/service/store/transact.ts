// Transactions, and what the engines' error codes mean.

import { setTimeout as sleep } from 'node:timers/promises'
import { type Kysely, type Transaction, sql } from './kysely.ts'
import { ServiceError } from '../service-error.ts'
import { codeOf } from './connection.ts'
import { engineOf } from './engine-adapter.ts'

const attempts = 6
const pauseMs = 20
const aliveMs = 10_000
/** PostgreSQL: serialisation, a deadlock, a row that has just gone or come. SQLite has one writer and none of these. */
const collisions = new Set(['40001', '40P01', '23503'])

/** Runs `change` in one transaction, again when it collided with another one. Throws ServiceError 503 where that goes on. */
export async function transact<Tables, Result>(
  store: Kysely<Tables>,
  change: (transaction: Transaction<Tables>) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await store.transaction().execute(change)
    } catch (error) {
      if (!isCollision(error)) throw error
      if (attempt === attempts && isReferenceViolation(error)) throw error
      if (attempt === attempts)
        throw new ServiceError(503, 'others change the same all the time: try again', { cause: error })
    }
    await sleep(Math.random() * pauseMs * attempt)
  }
}

/** The same for a change of a project, when it is its turn. */
export function transactFor<Tables, Result>(
  store: Kysely<Tables>,
  projectId: string,
  change: (transaction: Transaction<Tables>) => Promise<Result>,
): Promise<Result> {
  return engineOf(store).inTurn(projectId, () => transact(store, change))
}

/** Runs a part of what is too long for one transaction. */
export type Step<Tables> = <Result>(
  change: (transaction: Transaction<Tables>) => Promise<Result>,
) => Promise<Result>

/**
 * Gives `work` the steps of one change, between which it may use `store`, and others are served. Rows that a step has locked stay
 * so until the end where nodes share the store; elsewhere each step is a transaction of its own. Runs `work` again where it collided.
 */
export function transactInSteps<Tables, Result>(
  store: Kysely<Tables>,
  work: (step: Step<Tables>) => Promise<Result>,
): Promise<Result> {
  const engine = engineOf(store)
  if (engine.inLongTurn === undefined) return work((change) => transact(store, change))
  return engine.inLongTurn(() =>
    transact(store, async (transaction) => {
      // The database ends a transaction that says nothing.
      const alive = setInterval(() => void sql`select 1`.execute(transaction).catch(() => undefined), aliveMs)
      try {
        return await work((change) => change(transaction))
      } finally {
        clearInterval(alive)
      }
    }),
  )
}

/** True when it may work when it is done again. */
export function isCollision(error: unknown): boolean {
  return collisions.has(codeOf(error))
}

/** True when a unique constraint refused a row. */
export function isUniqueViolation(error: unknown): boolean {
  const code = codeOf(error)
  return code === 'SQLITE_CONSTRAINT_UNIQUE' || code === '23505'
}

/** True when what a row refers to is gone, or what is to go is still referred to. */
export function isReferenceViolation(error: unknown): boolean {
  const code = codeOf(error)
  return code === 'SQLITE_CONSTRAINT_FOREIGNKEY' || code === '23503'
}
