// A query: the values of one item, each with the field of the table with which it is compared.

import type { AssetField } from './asset-field.ts'
import type { AssetIndex } from './asset-index.ts'
import { type Comparable, comparableOf } from './comparable.ts'
import type { Cell, Item } from './input-shape.ts'

/** One value of the item, and the field with which it is compared. */
export interface Term {
  readonly cell: Cell
  readonly field: AssetField
  readonly value: Comparable
  /** Weight: 1, or less where the field is a guess. */
  readonly share: number
}

/** Weight of a value that is compared with a guessed field (`column-guess.ts`). */
const guessedShare = 0.5

export interface Query {
  readonly item: Item
  /** Values the item shares with the others of its group. */
  readonly shared: readonly Cell[]
  /** Empty when the item has no value to compare. */
  readonly terms: readonly Term[]
  /** Keys for which the table has no field, nor a guessed one. */
  readonly unknownKeys: readonly string[]
}

/**
 * Makes the query of an item. A value for which the table has no field is compared with the guessed field of its column, if
 * any. If no value has a field, all are compared with the assets' names.
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
