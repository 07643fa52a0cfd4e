// Transactions, and what the engines' error codes mean.

import type { Kysely, Transaction } from 'kysely'
import { codeOf } from './connection.ts'

const attempts = 5

/** Runs `change` in one transaction, again when it collided with another one. Nobody else writes until it ends. */
export async function transact<Tables, Result>(
  store: Kysely<Tables>,
  change: (transaction: Transaction<Tables>) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await store.transaction().execute(change)
    } catch (error) {
      if (attempt === attempts || codeOf(error) !== '40001') throw error
    }
  }
}

/** True when a unique constraint refused a row. */
export function isUniqueViolation(error: unknown): boolean {
  const code = codeOf(error)
  return code === 'SQLITE_CONSTRAINT_UNIQUE' || code === '23505'
}
