// One fsync shared by several callers: all that call while one is under way share the next.

/** Runs `sync` so that each caller's earlier writes are covered, and no more often than that needs. */
export class GroupSync {
  readonly #sync: () => Promise<void>
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined

  constructor(sync: () => Promise<void>) {
    this.#sync = sync
  }

  /** Resolves when everything written before this call is on disk. Rejects as `sync` does. */
  run(): Promise<void> {
    if (this.#running === undefined) return this.#start()
    // The one under way may have begun before our write.
    this.#next ??= this.#running.catch(() => {}).then(() => this.#start())
    return this.#next
  }

  #start(): Promise<void> {
    this.#next = undefined
    this.#running = this.#sync().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }
}
