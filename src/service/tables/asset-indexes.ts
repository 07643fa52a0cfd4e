// Indexes of the tables reconciled lately. Assets are only ever added, so their number says whether an index is current.

import { type AssetIndex, indexAssets } from '../reconcile/asset-index.ts'
import { loadAssets } from './assets-store.ts'
import type { TableRow, TablesStore } from './database.ts'

/** Tables kept; one of 10,000 assets takes some tens of megabytes. */
const maxTables = 4

export class AssetIndexes {
  readonly #store: TablesStore
  readonly #recent = new Map<string, { readonly count: number; readonly index: Promise<AssetIndex> }>()

  constructor(store: TablesStore) {
    this.#store = store
  }

  /** The assets the table had when it was read. */
  get(table: TableRow): Promise<AssetIndex> {
    const known = this.#recent.get(table.id)
    this.#recent.delete(table.id)
    const index = known?.count === table.asset_count ? known.index : this.#load(table)
    this.#recent.set(table.id, { count: table.asset_count, index })
    const [oldest] = this.#recent.keys()
    if (oldest !== undefined && this.#recent.size > maxTables) this.#recent.delete(oldest)
    return index
  }

  async #load(table: TableRow): Promise<AssetIndex> {
    try {
      return indexAssets(await loadAssets(this.#store, table.id, table.asset_count))
    } catch (error) {
      this.#recent.delete(table.id)
      throw error
    }
  }
}
