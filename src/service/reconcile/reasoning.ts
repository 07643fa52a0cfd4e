// The reasoning of a run, as sentences of bounded length: the matched asset of each item, the fields that agree and differ, or
// the reason why no asset was matched.

import type { Asset, AssetIndex } from './asset-index.ts'
import { maxCandidates } from './candidates.ts'
import { containedSimilarity } from './code-similarity.ts'
import type { Outcome, Scored } from './match-group.ts'
import type { Query, Term } from './query.ts'
import { agreement, fullScore, termSimilarity } from './score.ts'

/** Items with a sentence each; of further ones only the number is reported. */
const maxListedItems = 25
const maxListedFields = 12
const maxShownCharacters = 60

/** The assets of one run, and how good a match has to be. */
export interface Run {
  readonly index: AssetIndex
  /** The score that a match needs. */
  readonly least: number
}

/** An item and its outcome, which may also be that it has no match. */
export interface ItemOutcome {
  readonly query: Query
  readonly outcome: Outcome
}

type Match = Extract<Outcome, { kind: 'key' | 'likeness' }>
type Miss = Exclude<Outcome, Match>

/** The sentences of one run; `least` is the score that a match needs. */
export function reasoningOf(
  groups: readonly (readonly ItemOutcome[])[],
  index: AssetIndex,
  least: number,
): string {
  const count = index.assets.length
  const items = groups.flat()
  if (items.length === 0) return 'Nothing to match: the input holds no value.'
  const matched = items.filter(({ outcome }) => isMatch(outcome)).length
  // When there are too many, items without a match are preferred. The sentences keep the order of the items.
  const listedItems = new Set(
    [
      ...items.filter(({ outcome }) => !isMatch(outcome)),
      ...items.filter(({ outcome }) => isMatch(outcome)),
    ].slice(0, maxListedItems),
  )
  const sentences = groups.flatMap((group) =>
    group.filter((item) => listedItems.has(item)).map((item) => sentenceOf(item, group, { index, least })),
  )
  if (items.length === 1) return sentences.join('')
  const rest = items.length - maxListedItems
  return [
    `${matched} of ${items.length} items matched, among ${counted(count, 'asset')}.`,
    ...sentences,
    ...(rest > 0 ? [`${counted(rest, 'further item')} not told one by one.`] : []),
  ].join('\n')
}

/** True where the item got an asset. */
export function isMatch(outcome: Outcome): outcome is Match {
  return outcome.kind === 'key' || outcome.kind === 'likeness'
}

/** The sentences of one item, without its label: why it has its asset, or none. */
export function reasonOf({ query, outcome }: ItemOutcome, group: readonly ItemOutcome[], run: Run): string {
  return isMatch(outcome)
    ? matchedSentence(query, outcome, run.index)
    : `No asset matched: ${whyNot(query, outcome, group, run)}`
}

function sentenceOf(item: ItemOutcome, group: readonly ItemOutcome[], run: Run): string {
  const { label } = item.query.item
  const sentence = reasonOf(item, group, run)
  return label === '' ? sentence : `${label}: ${sentence.slice(0, 1).toLowerCase()}${sentence.slice(1)}`
}

function matchedSentence(query: Query, outcome: Match, index: AssetIndex): string {
  return [
    `Matched ${named(index.assets[outcome.asset])} ${reasonOfMatch(query, outcome)}.`,
    comparison(query, outcome.asset, index),
    ties(outcome.equals, index),
    unknown(query),
  ].join('')
}

function whyNot(query: Query, outcome: Miss, group: readonly ItemOutcome[], { index, least }: Run): string {
  if (outcome.kind === 'no value') return 'no value is given.'
  if (outcome.kind === 'nothing alike') {
    if (index.assets.length === 0) return 'the table has no assets.'
    const count = counted(index.assets.length, 'asset')
    return `none of ${count} has ${alternatives(query.terms)}, or anything near.${unknown(query)}`
  }
  const asset = named(index.assets[outcome.asset])
  if (outcome.kind === 'taken') {
    return `the one that fits, ${asset}, went to ${group[outcome.by]?.query.item.label ?? 'another item'}.${others(outcome.next, index)}`
  }
  const { next } = outcome
  return `the nearest, ${asset}, ${nearness(query, outcome, least)}.${comparison(query, outcome.asset, index)}${others(next, index)}${unknown(query)}`
}

function others(next: readonly Scored[], index: AssetIndex): string {
  const nearest = next.map(({ asset, score }) => `${named(index.assets[asset])} with ${share(score)}`)
  return nearest.length === 0 ? '' : ` After it: ${listed(nearest)}.`
}

function reasonOfMatch(query: Query, outcome: Match): string {
  if (outcome.kind === 'likeness') return `by likeness (${share(outcome.score)})`
  const keys = query.terms.filter(
    (term) => term.field.isKey && (termSimilarity(term, outcome.asset) ?? 0) >= containedSimilarity,
  )
  return `by its ${listed(keys.map(nameOf))}, which no other asset has`
}

function nearness(query: Query, { asset, score }: Scored, least: number): string {
  const doesAnyAgree = query.terms.some((term) => (termSimilarity(term, asset) ?? 0) >= agreement)
  return !doesAnyAgree ? 'agrees in no field' : `reaches ${share(score)} of the ${share(least)} needed`
}

function comparison(query: Query, asset: number, index: AssetIndex): string {
  const agree: string[] = []
  const alike: string[] = []
  const differ: string[] = []
  const empty: string[] = []
  for (const term of query.terms) {
    const similarity = termSimilarity(term, asset)
    const found = index.valueOf(asset, term.field.name) ?? index.assets[asset]?.name
    const pair = `${nameOf(term)} (given ${shown(term.cell.value)}, asset has ${shown(found)})`
    if (similarity === undefined) empty.push(nameOf(term))
    else if (similarity >= 1) agree.push(nameOf(term))
    else if (similarity >= agreement) agree.push(pair)
    else if (similarity > 0) alike.push(pair)
    else differ.push(pair)
  }
  return [
    ['Agree', agree],
    ['Alike', alike],
    ['Differ', differ],
    ['Empty in the asset', empty],
  ]
    .filter(([, fields]) => (fields ?? []).length > 0)
    .map(([title, fields]) => ` ${String(title)}: ${listed(fields as string[])}.`)
    .join('')
}

function ties(equals: readonly number[], index: AssetIndex): string {
  const [first, ...others] = equals
  if (first === undefined) return ''
  const name = named(index.assets[first])
  // There may be more among the assets that were not compared.
  const number = equals.length >= maxCandidates - 1 ? `${equals.length} or more` : String(equals.length)
  const also = others.length === 0 ? `${name} fits` : `${number} other assets, such as ${name}, fit`
  return ` A tie: ${also} as well; the first in the table was taken.`
}

function unknown(query: Query): string {
  if (query.unknownKeys.length === 0) return ''
  const isByName =
    query.terms.length > 0 && query.terms.every((term) => query.unknownKeys.includes(term.cell.key))
  const instead = isByName ? ", so it was compared with the assets' names" : ''
  return ` The table has no field ${listed(query.unknownKeys.map(quoted))}${instead}.`
}

function alternatives(terms: readonly Term[]): string {
  return listed(
    terms.map((term) => `${nameOf(term)} ${shown(term.cell.value)}`),
    'or',
  )
}

function listed(names: readonly string[], joint = 'and'): string {
  const first = names.slice(0, maxListedFields)
  if (names.length > first.length) return `${first.join(', ')} ${joint} ${names.length - first.length} more`
  return first.length <= 1
    ? first.join('')
    : `${first.slice(0, -1).join(', ')} ${joint} ${first.at(-1) ?? ''}`
}

/** The key of the input, with the field of the table where that was a guess. */
function nameOf({ cell, field, share }: Term): string {
  return share === 1 ? bounded(cell.key) : `${bounded(cell.key)} (as ${bounded(field.name)})`
}

function named(asset: Asset | undefined): string {
  return asset === undefined ? 'an asset' : `asset ${quoted(asset.name)} (${asset.id})`
}

function shown(value: unknown): string {
  return typeof value === 'string' ? quoted(value) : bounded(JSON.stringify(value) ?? 'nothing')
}

function quoted(text: string): string {
  return `"${bounded(text)}"`
}

function bounded(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ')
  if (line.length <= maxShownCharacters) return line
  // A surrogate pair is not split at the cut.
  return `${line.slice(0, maxShownCharacters - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}

function share(score: number): string {
  return (score / fullScore).toFixed(2)
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
