// How well the airports of one public list are found in another: by the engine, and by TF-IDF with sets of words, whose weights
// and threshold are tuned on the other half of the answers. Prints the second table of docs/reconciliation.md.
//   node airports-quality.js FOLDER     where the packages lie

import { indexAssets } from '../../src/service/reconcile/asset-index.ts'
import { reconcile } from '../../src/service/reconcile/reconcile.ts'
import { type Airports, loadAirports } from './airports.ts'
import { type Matches, Tally } from './judge.ts'
import { type TfIdfSettings, prepareTfIdf, tfIdfSettings } from './tf-idf.ts'

function engine({ assets, items }: Airports): Matches {
  const index = indexAssets(
    assets.map((rowData, at) => ({ id: String(at), name: `Airport ${at}`, rowData: { ...rowData } })),
  )
  const data = Object.fromEntries(
    (['name', 'city', 'country'] as const).map((field) => [field, items.map((item) => item[field])]),
  )
  const { matches } = reconcile({ data, files: [] }, index)
  return matches.map((id) => (id === undefined ? undefined : Number(id)))
}

/** Those that the other list has. */
function inBoth({ assets, items, truth }: Airports): Airports {
  const places = truth.flatMap((asset, at) => (asset === undefined ? [] : at))
  return { assets, items: places.map((at) => items[at]!), truth: places.map((at) => truth[at]) }
}

function tune(part: Airports): TfIdfSettings {
  const match = prepareTfIdf(part)
  let best: { f1: number; settings: TfIdfSettings } | undefined
  const all = Object.entries(tfIdfSettings).reduce<Record<string, number>[]>(
    (some, [name, values]) => some.flatMap((one) => values.map((value) => ({ ...one, [name]: value }))),
    [{}],
  ) as TfIdfSettings[]
  for (const settings of all) {
    const { f1 } = new Tally().add(match(settings), part.truth)
    if (best === undefined || f1 > best.f1) best = { f1, settings }
  }
  return best!.settings
}

const percent = (share: number): string => (share * 100).toFixed(1)

const { tuning, judged } = loadAirports(process.argv[2] ?? '.')
console.log('| airports | precision | recall | F1 |')
console.log('|---|---|---|---|')
for (const [title, tuned, part] of [
  ['all with a code', tuning, judged],
  ['those in both lists', inBoth(tuning), inBoth(judged)],
] as const) {
  const found: [string, Matches][] = [
    ['docmount', engine(part)],
    ['TF-IDF and sets of words', prepareTfIdf(part)(tune(tuned))],
  ]
  for (const [name, matches] of found) {
    const tally = new Tally().add(matches, part.truth)
    const figures = [tally.precision, tally.recall, tally.f1].map(percent)
    console.log(`| ${[`${title} (${part.items.length}): ${name}`, ...figures].join(' | ')} |`)
  }
}
