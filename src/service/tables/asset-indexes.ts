// Indexes of recently reconciled tables. Assets are only added, never changed, so an index is updated by adding the rows after
// its last one.

import { GrowingIndex } from '../reconcile/asset-index.ts'
import { loadAssets } from './assets-store.ts'
import type { TablesStore } from './database.ts'

/** Tables with an index in memory; that of 10,000 assets takes some tens of megabytes. */
const maxTables = 4
/** Rows per query. */
const pageRows = 10_000

export class AssetIndexes {
  readonly #store: TablesStore
  readonly #recent = new Map<string, GrowingIndex>()

  constructor(store: TablesStore) {
    this.#store = store
  }

  /** Returns an index of at least the first `count` assets of the table. */
  async get(tableId: string, count: number): Promise<GrowingIndex> {
    const index = this.#recent.get(tableId) ?? new GrowingIndex()
    // Out of the cache while it grows, so that an index that failed half-way is not used again.
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
