// Projects and scopes that keys open, kept for a moment: looking them up costs a request as much as all else it reads
// from the database. Forgotten with every change this service makes to anything but documents; what another program
// changes is seen within a second.

import type { Store } from './store/database.ts'
import { type OpenedKey, findKey } from './store/keys.ts'

const keptMs = 1_000
const maxKept = 10_000

interface Kept {
  readonly opened: OpenedKey
  readonly version: number
  readonly until: number
}

export class OpenedKeys {
  readonly #store: Store
  readonly #version: () => number
  readonly #kept = new Map<string, Kept>()

  /** `version` grows when a change of keys or projects is done. */
  constructor(store: Store, version: () => number) {
    this.#store = store
    this.#version = version
  }

  /** By the key's hash; undefined for a key nobody made, which is looked for each time. */
  async find(hash: string): Promise<OpenedKey | undefined> {
    const version = this.#version()
    const now = performance.now()
    const kept = this.#kept.get(hash)
    if (kept !== undefined && kept.version === version && now < kept.until) return kept.opened
    const opened = await findKey(this.#store, hash)
    if (opened === undefined) this.#kept.delete(hash)
    else {
      if (this.#kept.size >= maxKept) this.#kept.clear()
      this.#kept.set(hash, { opened, version, until: now + keptMs })
    }
    return opened
  }
}
