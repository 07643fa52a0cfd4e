// What was deleted leaves the files too: free pages go back to the disk, and the write-ahead log, which still holds what was
// written lately, is emptied. Soon after deletions, and not while they go on.

import { sql } from 'kysely'
import type { Log } from '../../log.ts'
import type { Store } from './database.ts'

const pauseMs = 2_000
/** Pages at once: 8 MiB, some 30 ms of the writer's time. */
const pagesAtOnce = 2_000

export class Tidying {
  readonly #store: Store
  readonly #settled: () => Promise<unknown>
  readonly #log: Log
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> = Promise.resolve()
  #isStopped = false

  /** `settled` resolves when what was deleted so far is cleared. */
  constructor(store: Store, settled: () => Promise<unknown>, log: Log) {
    this.#store = store
    this.#settled = settled
    this.#log = log
  }

  /** Something was deleted. */
  ask(): void {
    if (this.#timer !== undefined || this.#isStopped) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#running = this.#tidy().catch((error: unknown) => {
        this.#log.warn(
          { error },
          'could not give back what was deleted; the next deletion or start tries again',
        )
      })
    }, pauseMs)
    this.#timer.unref()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#running
  }

  async #tidy(): Promise<void> {
    await this.#settled()
    await sql`pragma incremental_vacuum(${sql.raw(String(pagesAtOnce))})`.execute(this.#store)
    const { rows } = await sql<{ busy: number }>`pragma wal_checkpoint(truncate)`.execute(this.#store)
    // A reader was in the way: the log is emptied once it is gone.
    if (rows[0]?.busy === 1 || (await this.#hasFreePages())) this.ask()
  }

  /** In a database from before free pages could be given back they are kept, overwritten with zeroes. */
  async #hasFreePages(): Promise<boolean> {
    const mode = await sql<{ auto_vacuum: number }>`pragma auto_vacuum`.execute(this.#store)
    if (mode.rows[0]?.auto_vacuum !== 2) return false
    const free = await sql<{ freelist_count: number }>`pragma freelist_count`.execute(this.#store)
    return (free.rows[0]?.freelist_count ?? 0) > 0
  }
}
