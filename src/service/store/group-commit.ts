// Changes that arrive together share one transaction, so that they share one fsync: under load the disk, not the number of
// uploads, sets the pace. Each change stands alone: one that throws is undone without harm to the others.

import { type Transaction, sql } from 'kysely'
import type { Database, Store } from './database.ts'
import { transact } from './transact.ts'

/** Reads and writes through the transaction alone: anything else would wait for it. May run again. */
export type Change<Result> = (transaction: Transaction<Database>) => Promise<Result>

interface Waiting {
  readonly change: Change<unknown>
  readonly resolve: (result: never) => void
  readonly reject: (error: unknown) => void
}

type Outcome = { readonly result: unknown } | { readonly error: unknown }

/** Readers wait for a whole group. */
const maxGroup = 50

export class GroupCommit {
  readonly #store: Store
  readonly #waiting: Waiting[] = []
  #isRunning = false

  constructor(store: Store) {
    this.#store = store
  }

  /** Resolves with what `change` answers when it is durable, rejects with what it throws. */
  run<Result>(change: Change<Result>): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      this.#waiting.push({ change, resolve, reject })
      if (this.#isRunning) return
      this.#isRunning = true
      void this.#runAll()
    })
  }

  async #runAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      // A turn of the event loop: whoever became ready while the last group was written joins the next one.
      await new Promise((resolve) => setImmediate(resolve))
      await this.#runGroup(this.#waiting.splice(0, maxGroup))
    }
    this.#isRunning = false
  }

  async #runGroup(group: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = await transact(this.#store, async (transaction) => {
        const all: Outcome[] = []
        for (const { change } of group) all.push(await runMember(transaction, change))
        return all
      })
      for (const [index, outcome] of outcomes.entries()) {
        if ('error' in outcome) group[index]!.reject(outcome.error)
        else group[index]!.resolve(outcome.result as never)
      }
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  }
}

async function runMember(transaction: Transaction<Database>, change: Change<unknown>): Promise<Outcome> {
  await sql`savepoint member`.execute(transaction)
  try {
    const result = await change(transaction)
    await sql`release savepoint member`.execute(transaction)
    return { result }
  } catch (error) {
    await sql`rollback to savepoint member`.execute(transaction)
    await sql`release savepoint member`.execute(transaction)
    return { error }
  }
}
