// How long reconciliation takes over 10,000 assets, in milliseconds. Started by `scripts/bench-reconcile --speed`.

import { indexAssets } from '../../src/service/reconcile/asset-index.ts'
import { reconcile } from '../../src/service/reconcile/reconcile.ts'

const assetCount = 10_000
const rounds = 5
const names = [
  'Acme',
  'Borealis',
  'Cobalt',
  'Delta',
  'Eurotrans',
  'Fjord',
  'Globex',
  'Helios',
  'Initech',
  'Juno',
  'Krone',
  'Lumen',
]
const forms = ['GmbH', 'Ltd', 'Inc', 'AG', 'SARL']
const cities = ['Berlin', 'Hamburg', 'Paris', 'London', 'Wien', 'Oslo']

const assets = Array.from({ length: assetCount }, (_, at) => ({
  id: `asset-${at}`,
  name: `Invoice ${at}`,
  rowData: {
    invoice_number: `INV-2026-${String(at).padStart(5, '0')}`,
    vendor: `${names[at % 12]} ${names[(at * 7) % 11]} ${forms[at % 5]}`,
    total: Math.round(at * 137.31) / 100,
    date: new Date(Date.UTC(2026, 0, 1 + (at % 365))).toISOString().slice(0, 10),
    city: cities[at % 6],
  },
}))
const picked = Array.from({ length: 1000 }, (_, at) => assets[(at * 7919) % assetCount]!)
const column = (
  field: keyof (typeof picked)[number]['rowData'],
  change: (value: unknown) => string = String,
): string[] => picked.map((asset) => change(asset.rowData[field]))
const misspelt = (value: unknown): string => {
  const text = String(value)
  return `${text.slice(0, 2)}#${text.slice(3)}`
}

const inputs = {
  'one item by its key': { invoice_number: 'inv 2026 00042', total: '57,67 EUR' },
  'one item by likeness': { vendor: 'Globex Initech', total: '57.67', date: '12 February 2026' },
  'one item, all assets alike': { city: 'Berlin' },
  '1,000 items by key': { invoice_number: column('invoice_number'), total: column('total') },
  '1,000 items by likeness': { vendor: column('vendor'), total: column('total'), date: column('date') },
  '1,000 items, misspelt': { vendor: column('vendor', misspelt), date: column('date') },
}

const median = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN

console.log(
  `${assetCount} assets; median of ${rounds} rounds in ms: first run (index made) / later runs; items matched`,
)
for (const [title, data] of Object.entries(inputs)) {
  const first: number[] = []
  const later: number[] = []
  let matched = 0
  for (let round = 0; round < rounds; round++) {
    const start = performance.now()
    const index = indexAssets(assets)
    matched = reconcile({ data, files: [] }, index).matches.filter((match) => match !== undefined).length
    const between = performance.now()
    reconcile({ data, files: [] }, index)
    first.push(between - start)
    later.push(performance.now() - between)
  }
  console.log(
    `${title.padEnd(28)} ${median(first).toFixed(1).padStart(8)} / ${median(later).toFixed(1).padStart(7)}  ${matched}`,
  )
}
