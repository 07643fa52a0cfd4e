// The reconciliation engine: input and assets in, matched values and sentences out. Pure and deterministic; knows no store,
// no HTTP and no clock. docs/reconciliation.md describes the method.

import type { AssetIndex } from './asset-index.ts'
import { guessFields } from './column-guess.ts'
import { type Cell, type Group, blankOf, groupOfRows, shapeOf, writeAt } from './input-shape.ts'
import { matchGroup } from './match-group.ts'
import { type Query, queryOf } from './query.ts'
import { fieldKeyOf } from './normalise.ts'
import { type Run, type MatchedItem, isMatch, reasonOf, reasoningOf } from './reasoning.ts'
import { fullScore, leastScore } from './score.ts'

export interface ReconcileInput {
  readonly data: Readonly<Record<string, unknown>>
  readonly files: readonly RowsFile[]
}

/** A document read into rows. */
export interface RowsFile {
  readonly name: string
  readonly rows: readonly Readonly<Record<string, unknown>>[]
}

export interface Reconciliation {
  /**
   * The shape of the input's `data`: under each key the matched asset's value, null where nothing matched or the asset has
   * none; `match_score` (0 … 1) and `match_reason` are of the match itself; lists keep length and order. Each file adds its rows as a list of objects under its name.
   */
  readonly data: Record<string, unknown>
  readonly reasoning: string
  /** Asset id per item, in the order of the input; undefined where nothing matched. */
  readonly matches: readonly (string | undefined)[]
}

/** Items one run takes at most: what is more belongs into several runs. */
export const maxItems = 5_000

/** Of the files of one run: as many as all its items may have, were each compared by two hundred. */
const maxFileCells = 1_000_000
/** Of their texts: twice what a request without files may bring. */
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
    // The threshold stays where it was.
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

type MatchAnswer = (one: MatchedItem, group: readonly MatchedItem[], run: Run) => string | number | null

/** Keys that ask for the match itself, where no field of that name exists. */
const matchKeys: ReadonlyMap<string, MatchAnswer> = new Map<string, MatchAnswer>([
  ['matchscore', scoreAnswer],
  ['matchreason', reasonOf],
])

const thresholdKey = 'matchthreshold'

function thresholdKeys(data: ReconcileInput['data']): string[] {
  return Object.keys(data).filter((key) => fieldKeyOf(key) === thresholdKey)
}

/** The score that the input says a match needs; undefined where it says none, or means a field of the table. */
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
function scoreAnswer({ outcome }: MatchedItem): number | null {
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

function matchItems(group: Group, { index, least }: Run): MatchedItem[] {
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
  // Its key is none of the table's: it was compared with the asset's name, or with what its column seems to be about.
  const term = query.terms.find((each) => each.cell === cell)
  if (term === undefined) return null
  return term.field === index.nameField
    ? index.assets[asset]?.name
    : (index.valueOf(asset, term.field.name) ?? null)
}

// A single value beside lists: what all matched assets have, null where they disagree.
function commonAnswer(all: readonly MatchedItem[], shared: Cell, index: AssetIndex): unknown {
  const answers = new Map<string, unknown>()
  for (const { query, outcome } of all) {
    if (!query.shared.includes(shared) || !isMatch(outcome)) continue
    const answer = answerOf(query, shared, outcome.asset, index)
    answers.set(JSON.stringify(answer), answer)
  }
  return answers.size === 1 ? answers.values().next().value : null
}
