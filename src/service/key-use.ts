// The time of last use of each key: written at most once a minute per key. No request waits for the write.

import type { Log } from '../log.ts'
import type { Store } from './store/database.ts'
import { noteKeyUsed } from './store/keys.ts'

const minuteMs = 60_000

export class KeyUse {
  readonly #store: Store
  readonly #log: Log
  readonly #noted = new Map<string, number>()
  #written: Promise<void> = Promise.resolve()

  constructor(store: Store, log: Log) {
    this.#store = store
    this.#log = log
  }

  /** Records that the key was used. `now`: epoch milliseconds. */
  note(id: string, now: number): void {
    // Absolute, because after a clock was set back by hours nothing would be recorded for hours.
    const noted = this.#noted.get(id)
    if (noted !== undefined && Math.abs(now - noted) < minuteMs) return
    this.#noted.set(id, now)
    this.#written = this.#written
      .then(() => noteKeyUsed(this.#store, id, now))
      .catch((error: unknown) => this.#log.warn({ error }, 'could not note when a key was used'))
  }

  /** Resolves when everything recorded so far is written. */
  async whenIdle(): Promise<void> {
    await this.#written
  }
}
