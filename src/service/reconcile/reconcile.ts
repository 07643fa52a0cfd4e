// The reconciliation engine: matches the input's items to assets, and returns the assets' values with sentences that explain
// them. A pure function: no store, no HTTP, no clock. docs/reconciliation.md describes the method.

import type { AssetIndex } from './asset-index.ts'
import { guessFields } from './column-guess.ts'
import { type Cell, type Group, blankOf, groupOfRows, shapeOf, writeAt } from './input-shape.ts'
import { matchGroup } from './match-group.ts'
import { type Query, queryOf } from './query.ts'
import { fieldKeyOf } from './normalise.ts'
import { type Run, type ItemOutcome, isMatch, reasonOf, reasoningOf } from './reasoning.ts'
import { fullScore, leastScore } from './score.ts'

export interface ReconcileInput {
  readonly data: Readonly<Record<string, unknown>>
  readonly files: readonly RowsFile[]
}

/** A document that was parsed into rows. */
export interface RowsFile {
  readonly name: string
  readonly rows: readonly Readonly<Record<string, unknown>>[]
}

export interface Reconciliation {
  /**
   * An object of the shape of the input's `data`, with the matched asset's values, null where nothing matched or the asset has
   * none. Lists keep length and order. Each file adds its rows, as a list of objects under its name.
   */
  readonly data: Record<string, unknown>
  readonly reasoning: string
  /** Asset id per item, in the order of the input; undefined where nothing matched. */
  readonly matches: readonly (string | undefined)[]
}

/** Items of one run at most. */
export const maxItems = 5_000

/** Cells in the files of one run at most: two hundred for each of `maxItems`. */
const maxFileCells = 1_000_000
/** Characters in the files of one run at most: twice as many as a request without files may have. */
const maxFileCharacters = 8 * 1024 * 1024

/** Throws RangeError for more than `maxItems` items, and for files of more than 1,000,000 cells or 8 Mi characters. */
export function reconcile(input: ReconcileInput, index: AssetIndex): Reconciliation {
  checkFiles(input.files)
  const least = thresholdIn(input.data, index)
  const { groups, shared, data } = itemsOf(
    least === undefined ? input : { ...input, data: withoutThreshold(input.data) },
  )
  const run: Run = { index, least: least ?? leastScore }
  if (groups.reduce((sum, { items }) => sum + items.length, 0) > maxItems) {
    throw new RangeError(`one run matches at most ${maxItems} items: send several smaller ones`)
  }
  const matched = groups.map((group) => matchItems(group, run))
  const all = matched.flat()
  for (const group of matched) {
    for (const one of group) {
      const { query, outcome } = one
      for (const cell of query.item.cells) {
        const answer = index.field(cell.key) === undefined ? matchKeys.get(fieldKeyOf(cell.key)) : undefined
        if (answer !== undefined) writeAt(data, cell.path, answer(one, group, run))
        else if (isMatch(outcome)) writeAt(data, cell.path, answerOf(query, cell, outcome.asset, index))
      }
    }
  }
  for (const cell of shared) writeAt(data, cell.path, commonAnswer(all, cell, index))
  return {
    // The key of the threshold is returned with its value.
    data: least === undefined ? data : { ...input.data, ...data },
    reasoning: reasoningOf(matched, index, run.least),
    matches: all.map(({ outcome }) => (isMatch(outcome) ? index.assets[outcome.asset]?.id : undefined)),
  }
}

function checkFiles(files: readonly RowsFile[]): void {
  let cells = 0
  let characters = 0
  for (const { rows } of files)
    for (const row of rows)
      for (const value of Object.values(row)) {
        if (typeof value === 'string') characters += value.length
        if (++cells > maxFileCells)
          throw new RangeError(`the files of one run have at most ${maxFileCells} cells: split them`)
        if (characters > maxFileCharacters)
          throw new RangeError(
            `the files of one run have at most ${maxFileCharacters} characters: split them`,
          )
      }
}

type MatchAnswer = (one: ItemOutcome, group: readonly ItemOutcome[], run: Run) => string | number | null

/** Keys that are answered with the match's score or reason, where the table has no field of that name. */
const matchKeys: ReadonlyMap<string, MatchAnswer> = new Map<string, MatchAnswer>([
  ['matchscore', scoreAnswer],
  ['matchreason', reasonOf],
])

const thresholdKey = 'matchthreshold'

function thresholdKeys(data: ReconcileInput['data']): string[] {
  return Object.keys(data).filter((key) => fieldKeyOf(key) === thresholdKey)
}

/** The score that a match needs by the input; undefined where the input has none, or the table has a field of that name. */
function thresholdIn(data: ReconcileInput['data'], index: AssetIndex): number | undefined {
  const [key] = thresholdKeys(data)
  if (key === undefined || index.field(key) !== undefined) return undefined
  const share = Number(data[key])
  return share > 0 && share <= 1 ? Math.round(share * fullScore) : undefined
}

function withoutThreshold(data: ReconcileInput['data']): ReconcileInput['data'] {
  return Object.fromEntries(Object.entries(data).filter(([key]) => fieldKeyOf(key) !== thresholdKey))
}

/** 0 … 1; null where nothing matched. */
function scoreAnswer({ outcome }: ItemOutcome): number | null {
  return isMatch(outcome) ? outcome.score / fullScore : null
}

function itemsOf(input: ReconcileInput): {
  groups: Group[]
  shared: readonly Cell[]
  data: Record<string, unknown>
} {
  const shape = shapeOf(input.data)
  const data = shape.blank
  const groups = [...shape.groups]
  for (const file of input.files) {
    const key = freeKey(data, file.name)
    data[key] = file.rows.map((row) => blankOf(row, 0))
    groups.push(groupOfRows(key, file.rows))
  }
  return { groups, shared: shape.shared, data }
}

function freeKey(data: Readonly<Record<string, unknown>>, name: string): string {
  let key = name
  for (let copy = 2; Object.hasOwn(data, key); copy++) key = `${name} (${copy})`
  return key
}

function matchItems(group: Group, { index, least }: Run): ItemOutcome[] {
  const guesses = guessFields(group.items, index)
  const queries = group.items.map((item) => queryOf(item, group.shared, index, guesses))
  const outcomes = matchGroup(queries, index, least)
  return queries.flatMap((query, at) => {
    const outcome = outcomes[at]
    return outcome === undefined ? [] : [{ query, outcome }]
  })
}

function answerOf(query: Query, cell: Cell, asset: number, index: AssetIndex): unknown {
  const value = index.valueOf(asset, cell.key)
  if (value !== undefined) return value
  // The table has no field for this key: the value was compared with a guessed field, or with the assets' names.
  const term = query.terms.find((each) => each.cell === cell)
  if (term === undefined) return null
  return term.field === index.nameField
    ? index.assets[asset]?.name
    : (index.valueOf(asset, term.field.name) ?? null)
}

// The result for a single value beside lists: the value that all matched assets have, null where they differ.
function commonAnswer(all: readonly ItemOutcome[], shared: Cell, index: AssetIndex): unknown {
  const answers = new Map<string, unknown>()
  for (const { query, outcome } of all) {
    if (!query.shared.includes(shared) || !isMatch(outcome)) continue
    const answer = answerOf(query, shared, outcome.asset, index)
    answers.set(JSON.stringify(answer), answer)
  }
  return answers.size === 1 ? answers.values().next().value : null
}
