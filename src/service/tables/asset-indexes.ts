// Indexes of the tables reconciled lately. Assets are only ever added, so an index is brought up to date by the rows that
// follow those it has.

import { GrowingIndex } from '../reconcile/asset-index.ts'
import { loadAssets } from './assets-store.ts'
import type { TablesStore } from './database.ts'

/** Tables kept; one of 10,000 assets takes some tens of megabytes. */
const maxTables = 4
/** Rows read at once. */
const pageRows = 10_000

export class AssetIndexes {
  readonly #store: TablesStore
  readonly #recent = new Map<string, GrowingIndex>()

  constructor(store: TablesStore) {
    this.#store = store
  }

  /** At least the first `count` assets of the table. */
  async get(tableId: string, count: number): Promise<GrowingIndex> {
    const index = this.#recent.get(tableId) ?? new GrowingIndex()
    // Not kept while it grows: what fails half-way is made anew.
    this.#recent.delete(tableId)
    while (index.assets.length < count) {
      const from = index.assets.length
      index.add(await loadAssets(this.#store, tableId, from, Math.min(count, from + pageRows)))
      if (index.assets.length === from) throw new Error(`table ${tableId} has fewer rows than it counts`)
    }
    this.#recent.set(tableId, index)
    const [oldest] = this.#recent.keys()
    if (oldest !== undefined && this.#recent.size > maxTables) this.#recent.delete(oldest)
    return index
  }
}
