// An item of the input bound to the table's fields: what is compared with what.

import type { AssetField } from './asset-field.ts'
import type { AssetIndex } from './asset-index.ts'
import { type Comparable, comparableOf } from './comparable.ts'
import type { Cell, Item } from './input-shape.ts'

/** One value to be compared. */
export interface Term {
  readonly cell: Cell
  readonly field: AssetField
  readonly value: Comparable
}

export interface Query {
  readonly item: Item
  /** Values the item shares with the others of its group. */
  readonly shared: readonly Cell[]
  /** Empty when the item holds no value the table could know. */
  readonly terms: readonly Term[]
  /** Keys no asset has; their answers stay null. */
  readonly unknownKeys: readonly string[]
}

/** Binds an item. Where the table knows none of its keys, its values are compared with the assets' names. */
export function queryOf(item: Item, shared: readonly Cell[], index: AssetIndex): Query {
  const terms: Term[] = []
  const strangers: { cell: Cell; value: Comparable }[] = []
  for (const cell of [...item.cells, ...shared]) {
    const value = comparableOf(cell.value)
    if (value === undefined) continue
    const field = index.field(cell.key)
    if (field === undefined) strangers.push({ cell, value })
    else terms.push({ cell, field, value })
  }
  const unknownKeys = strangers.map(({ cell }) => cell.key)
  if (terms.length > 0) return { item, shared, terms, unknownKeys }
  const byName = strangers.map(({ cell, value }) => ({ cell, field: index.nameField, value }))
  return { item, shared, terms: byName, unknownKeys }
}
