// Quality of the matches between payments and invoices, compared with rules written for this data, on seeds not used for tuning;
// and the time for matching with 10,000 assets. Run by `scripts/bench reconcile`; prints the tables of docs/reconciliation.md.

import { indexAssets } from '../../src/service/reconcile/asset-index.ts'
import { reconcile } from '../../src/service/reconcile/reconcile.ts'
import { matchByEngine } from '../../test/support/payments/engine.ts'
import { Tally } from '../../test/support/payments/judge.ts'
import { matchByRules } from '../../test/support/payments/rules.ts'
import { makeStatement } from '../../test/support/payments/statement.ts'

const statements = Array.from({ length: 20 }, (_, at) => makeStatement(1001 + at))
const assetCount = 10_000
const rounds = 5
const names = 'Acme,Borealis,Cobalt,Delta,Eurotrans,Fjord,Globex,Helios,Initech,Juno,Krone,Lumen'.split(',')
const forms = ['GmbH', 'Ltd', 'Inc', 'AG', 'SARL']
const cities = ['Berlin', 'Hamburg', 'Paris', 'London', 'Wien', 'Oslo']

function printQuality(): void {
  console.log('| | references | precision | recall | F1 |\n|---|---|--:|--:|--:|')
  for (const withReferences of [true, false])
    for (const [name, match] of [
      ['docmount', matchByEngine],
      ['rules', matchByRules],
    ] as const) {
      const tally = new Tally()
      for (const statement of statements) tally.add(match(statement, withReferences), statement.truth)
      const figures = [tally.precision, tally.recall, tally.f1].map((share) => (share * 100).toFixed(1))
      console.log(`| ${[name, withReferences ? 'with' : 'without', ...figures].join(' | ')} |`)
    }
}

function printSpeed(): void {
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
  const column = (field: keyof (typeof assets)[number]['rowData']): string[] =>
    picked.map((asset) => String(asset.rowData[field]))
  const misspelt = (text: string): string => `${text.slice(0, 2)}#${text.slice(3)}`
  const inputs = {
    'one item by its key': { invoice_number: 'inv 2026 00042', total: '57,67 EUR' },
    'one item by likeness': { vendor: 'Globex Initech', total: '57.67', date: '12 February 2026' },
    'one item, all assets alike': { city: 'Berlin' },
    '1,000 items by key': { invoice_number: column('invoice_number'), total: column('total') },
    '1,000 items by likeness': { vendor: column('vendor'), total: column('total'), date: column('date') },
    '1,000 items, misspelt': { vendor: column('vendor').map(misspelt), date: column('date').map(misspelt) },
  }
  const median = (times: readonly number[]): string =>
    times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]!.toFixed(1)
  console.log(
    `\n| over ${assetCount} assets, medians of ${rounds} | first run (index made), ms | later runs, ms | matched |\n|---|--:|--:|--:|`,
  )
  for (const [title, data] of Object.entries(inputs)) {
    const [first, later]: [number[], number[]] = [[], []]
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
    console.log(`| ${[title, median(first), median(later), matched].join(' | ')} |`)
  }
}

printQuality()
printSpeed()
