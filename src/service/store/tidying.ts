// Frees the disk space of deleted data: free pages of the database go back to the file system, and the write-ahead log, which
// still holds deleted data, is emptied. It runs two seconds after a deletion, once the deleted nodes are cleared.

import { sql } from './kysely.ts'
import type { Log } from '../../log.ts'
import type { Store } from './database.ts'
import type { Tidying } from './opened-store.ts'

const pauseMs = 2_000
const retryMs = 5_000
/** Pages per run: 8 MiB, about 30 ms of the writer's time. */
const pagesAtOnce = 2_000

export class FileTidying implements Tidying {
  readonly #store: Store
  readonly #whenCleared: () => Promise<unknown>
  readonly #log: Log
  #timer: NodeJS.Timeout | undefined
  #running: Promise<unknown> = Promise.resolve()
  #hasFailed = false
  #isStopped = false

  /** `whenCleared` resolves when all nodes deleted so far are cleared. */
  constructor(store: Store, whenCleared: () => Promise<unknown>, log: Log) {
    this.#store = store
    this.#whenCleared = whenCleared
    this.#log = log
  }

  /** Schedules a run, unless one is scheduled. */
  ask(): void {
    if (this.#timer !== undefined || this.#isStopped) return
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined
        this.#running = this.#tidy().then(
          () => (this.#hasFailed = false),
          (error: unknown) => this.#tryAgain(error),
        )
      },
      this.#hasFailed ? retryMs : pauseMs,
    )
    this.#timer.unref()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#running
  }

  /** Another program may have the lock, or the disk may be full: both pass. */
  #tryAgain(error: unknown): void {
    if (!this.#hasFailed) this.#log.warn({ error }, 'could not give back what was deleted; it is tried again')
    this.#hasFailed = true
    this.ask()
  }

  async #tidy(): Promise<void> {
    await this.#whenCleared()
    await sql`pragma incremental_vacuum(${sql.raw(String(pagesAtOnce))})`.execute(this.#store)
    const { rows } = await sql<{ busy: number }>`pragma wal_checkpoint(truncate)`.execute(this.#store)
    // Runs again if a reader kept the log from being emptied, or more pages are free.
    if (rows[0]?.busy === 1 || (await this.#hasFreePages())) this.ask()
  }

  /** False without incremental auto_vacuum: an old database keeps its free pages, overwritten with zeros. */
  async #hasFreePages(): Promise<boolean> {
    const mode = await sql<{ auto_vacuum: number }>`pragma auto_vacuum`.execute(this.#store)
    if (mode.rows[0]?.auto_vacuum !== 2) return false
    const free = await sql<{ freelist_count: number }>`pragma freelist_count`.execute(this.#store)
    return (free.rows[0]?.freelist_count ?? 0) > 0
  }
}
