// A cache of the projects and rights of each key, by its hash: looking them up costs as much as all other queries of a request.
// Every change by this service to anything but documents invalidates it; a change by another program is seen within a second.

import type { Store } from './store/database.ts'
import { type OpenedKey, findKey } from './store/keys.ts'

const ttlMs = 1_000
const maxEntries = 10_000

interface CacheEntry {
  readonly opened: OpenedKey
  readonly version: number
  readonly untilMs: number
}

export class OpenedKeys {
  readonly #store: Store
  readonly #version: () => number
  readonly #entries = new Map<string, CacheEntry>()

  /** `version` returns a number that grows with every change of keys or projects. */
  constructor(store: Store, version: () => number) {
    this.#store = store
    this.#version = version
  }

  /** Returns projects and rights of the key with this hash; undefined for an unknown key, which is not cached. */
  async find(hash: string): Promise<OpenedKey | undefined> {
    const version = this.#version()
    const now = performance.now()
    const entry = this.#entries.get(hash)
    if (entry !== undefined && entry.version === version && now < entry.untilMs) return entry.opened
    const opened = await findKey(this.#store, hash)
    if (opened === undefined) this.#entries.delete(hash)
    else {
      if (this.#entries.size >= maxEntries) this.#entries.clear()
      this.#entries.set(hash, { opened, version, untilMs: now + ttlMs })
    }
    return opened
  }
}
