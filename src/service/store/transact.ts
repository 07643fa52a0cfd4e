// Transactions, and what the engines' error codes mean.

import type { Kysely, Transaction } from 'kysely'

const attempts = 5

/** Runs `change` in one transaction, again when another process was writing at the same moment. */
export async function transact<Tables, Result>(
  store: Kysely<Tables>,
  change: (transaction: Transaction<Tables>) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await store.transaction().execute(change)
    } catch (error) {
      if (attempt === attempts || !isBusy(error)) throw error
    }
  }
}

/** True when a unique constraint refused a row. */
export function isUniqueViolation(error: unknown): boolean {
  const code = codeOf(error)
  return code === 'SQLITE_CONSTRAINT_UNIQUE' || code === '23505'
}

function isBusy(error: unknown): boolean {
  const code = codeOf(error)
  return code.startsWith('SQLITE_BUSY') || code === '40001'
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
