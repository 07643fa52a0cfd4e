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
  /** How much it weighs: 1, or less where its field is a guess. */
  readonly share: number
}

/** A value whose key no asset has, compared with the field that its column seems to be about. */
const guessedShare = 0.5

export interface Query {
  readonly item: Item
  /** Values the item shares with the others of its group. */
  readonly shared: readonly Cell[]
  /** Empty when the item holds no value the table could know. */
  readonly terms: readonly Term[]
  /** Keys no asset has; their answers stay null. */
  readonly unknownKeys: readonly string[]
}

/**
 * Binds an item. A value that the table has no field for is compared with the field that `guesses` names for its
 * column, if any; where that leaves nothing to compare, such values are compared with the assets' names.
 */
export function queryOf(
  item: Item,
  shared: readonly Cell[],
  index: AssetIndex,
  guesses: ReadonlyMap<string, AssetField>,
): Query {
  const terms: Term[] = []
  const unknown: { cell: Cell; value: Comparable }[] = []
  for (const cell of [...item.cells, ...shared]) {
    const value = comparableOf(cell.value)
    if (value === undefined) continue
    const field = index.field(cell.key)
    const guess = guesses.get(cell.key)
    if (field !== undefined) terms.push({ cell, field, value, share: 1 })
    else if (guess === undefined) unknown.push({ cell, value })
    else terms.push({ cell, field: guess, value, share: guessedShare })
  }
  const unknownKeys = unknown.map(({ cell }) => cell.key)
  if (terms.length > 0) return { item, shared, terms, unknownKeys }
  const byName = unknown.map(({ cell, value }) => ({ cell, field: index.nameField, value, share: 1 }))
  return { item, shared, terms: byName, unknownKeys }
}
