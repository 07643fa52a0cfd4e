import { describe, expect, test } from 'vitest'
import { type Asset, indexAssets } from '../../src/service/reconcile/asset-index.ts'
import { type RowsFile, maxItems, reconcile } from '../../src/service/reconcile/reconcile.ts'

type Fields = Record<string, unknown>

const invoices = assetsOf([
  [
    'March',
    { invoice_number: 'INV-001', vendor: 'Acme GmbH', total: 1234.56, date: '2024-03-31', city: 'Berlin' },
  ],
  [
    'April',
    { invoice_number: 'INV-002', vendor: 'Globex Ltd', total: 99.5, date: '2024-04-30', city: 'Berlin' },
  ],
  [
    'May',
    { invoice_number: 'INV-003', vendor: 'Initech Inc', total: 500, date: '2024-05-31', city: 'Paris' },
  ],
])

function assetsOf(rows: readonly (readonly [name: string, rowData: Fields])[]): Asset[] {
  return rows.map(([name, rowData], at) => ({ id: `asset-${at}`, name, rowData }))
}

function run(
  data: Fields,
  assets: readonly Asset[] = invoices,
  files: readonly RowsFile[] = [],
): ReturnType<typeof reconcile> {
  return reconcile({ data, files }, indexAssets(assets))
}

const cases: readonly {
  title: string
  assets?: readonly Asset[]
  data: Fields
  answer: Fields
  says?: readonly string[]
}[] = [
  {
    title: 'a key is enough, however it is spelled, and the asset fills what the input leaves open',
    data: { 'Invoice Number': 'inv 001', total: null, asset_name: null, asset_id: '' },
    answer: { 'Invoice Number': 'INV-001', total: 1234.56, asset_name: 'March', asset_id: 'asset-0' },
    says: [
      'Matched asset "March" (asset-0) by its Invoice Number, which no other asset has.',
      'Agree: Invoice Number.',
    ],
  },
  {
    title: 'a key decides against a value that differs, and the difference is told',
    data: { invoice_number: 'INV-002', total: '99,50 €', city: 'Hamburg' },
    answer: { invoice_number: 'INV-002', total: 99.5, city: 'Berlin' },
    says: ['Agree: invoice_number and total.', 'Differ: city (given "Hamburg", asset has "Berlin").'],
  },
  {
    title: 'a key is overruled when everything else contradicts it',
    data: { invoice_number: 'INV-001', total: 99.5, date: '30.4.2024', vendor: 'Globex' },
    answer: { invoice_number: 'INV-002', total: 99.5, date: '2024-04-30', vendor: 'Globex Ltd' },
    says: ['Matched asset "April" (asset-1) by likeness'],
  },
  {
    title: 'without a key the likeness of the other fields decides, in any notation',
    data: { vendor: 'ACME', total: 'EUR 1.234,56', date: '31 March 2024' },
    answer: { vendor: 'Acme GmbH', total: 1234.56, date: '2024-03-31' },
    says: [
      'Matched asset "March" (asset-0) by likeness (0.9',
      'Agree: vendor (given "ACME", asset has "Acme GmbH"), total and date.',
    ],
  },
  {
    title: 'a typo in a code is bridged when other fields agree',
    data: { invoice_number: 'INV-0O3', total: 500, vendor: 'Initech Inc' },
    answer: { invoice_number: 'INV-003', total: 500, vendor: 'Initech Inc' },
    says: ['Alike: invoice_number (given "INV-0O3", asset has "INV-003").'],
  },
  {
    title: 'a code one digit off is another code when nothing else agrees',
    data: { invoice_number: 'INV-004', total: 77 },
    answer: { invoice_number: null, total: null },
    says: ['No asset matched'],
  },
  {
    title: 'what is nowhere near matches nothing, and the reason names what was looked for',
    data: { vendor: 'Umbrella', total: 7 },
    answer: { vendor: null, total: null },
    says: ['No asset matched: none of 3 assets has vendor "Umbrella" or total 7, or anything near.'],
  },
  {
    title: 'too little agreement matches nothing, and the nearest asset is named',
    data: { city: 'Paris', vendor: 'Umbrella', total: 7, date: '2020-01-01' },
    answer: { city: null, vendor: null, total: null, date: null },
    says: ['the nearest, asset "May" (asset-2), reaches 0.', 'of the 0.60 needed'],
  },
  {
    title: 'of assets that fit equally well the first is taken, and the tie is told',
    data: { city: 'berlin' },
    answer: { city: 'Berlin' },
    says: [
      'Matched asset "March" (asset-0)',
      'A tie: asset "April" (asset-1) fits as well; the first in the table was taken.',
    ],
  },
  {
    title: 'columns are matched row by row, each asset once, length and order kept',
    data: {
      invoice_number: ['INV-003', 'INV-001', 'INV-001', 'INV-9'],
      vendor: ['Initech', 'Acme', 'Acme', ''],
    },
    answer: {
      invoice_number: ['INV-003', 'INV-001', null, null],
      vendor: ['Initech Inc', 'Acme GmbH', null, null],
    },
    says: [
      '2 of 4 items matched, among 3 assets.',
      'item 3: no asset matched: the one that fits, asset "March" (asset-0), went to item 2.',
    ],
  },
  {
    title: 'columns of different lengths are matched as far as they go',
    data: { vendor: ['Globex Ltd', 'Acme GmbH', 'Initech Inc'], total: [99.5] },
    answer: { vendor: ['Globex Ltd', 'Acme GmbH', 'Initech Inc'], total: [99.5] },
  },
  {
    title: 'the best assignment as a whole wins over the best one for the first item',
    assets: assetsOf([
      ['a', { vendor: 'Northern Light Trading', city: 'Oslo' }],
      ['b', { vendor: 'Northern Light Shipping', city: 'Oslo' }],
    ]),
    data: { vendor: ['Northern Light', 'Northern Light Trading'], city: ['Oslo', 'Oslo'] },
    answer: { vendor: ['Northern Light Shipping', 'Northern Light Trading'], city: ['Oslo', 'Oslo'] },
  },
  {
    title: 'a single value beside columns belongs to every row, and is answered where all agree',
    data: { city: 'Berlin', date: '2024', vendor: ['Acme', 'Globex'] },
    answer: { city: 'Berlin', date: null, vendor: ['Acme GmbH', 'Globex Ltd'] },
  },
  {
    title: 'a list of objects is a group of its own',
    data: { invoices: [{ vendor: 'Globex' }, { vendor: 'Acme', city: '' }], city: ['Paris'] },
    answer: {
      invoices: [{ vendor: 'Globex Ltd' }, { vendor: 'Acme GmbH', city: 'Berlin' }],
      city: ['Paris'],
    },
    says: ['item 1: matched asset "May"', 'invoices item 2: matched asset "March"'],
  },
  {
    title: 'an object keeps its shape',
    data: { order: { invoice_number: 'INV-002', total: null } },
    answer: { order: { invoice_number: 'INV-002', total: 99.5 } },
  },
  {
    title: 'a key the table does not know is answered null and told',
    data: { invoice_number: 'INV-002', iban: 'DE89' },
    answer: { invoice_number: 'INV-002', iban: null },
    says: ['The table has no field "iban".'],
  },
  {
    title: 'where the table knows no key at all, values are compared with the names of the assets',
    data: { document: 'april' },
    answer: { document: 'April' },
    says: ['The table has no field "document", so it was compared with the assets\' names.'],
  },
  {
    title: 'a column of another name is compared with the field its values are found in, at half the weight',
    data: { Purpose: ['for INV-002, thank you', 'rent'], Sum: [99.5, 1], total: [null, null] },
    answer: { Purpose: ['INV-002', null], Sum: [99.5, null], total: [99.5, null] },
    says: ['Purpose (as invoice_number)', 'Sum (as total)'],
  },
  {
    title: 'match_score and match_reason are of the match itself',
    data: { invoice_number: ['INV-002', 'X-9'], match_score: [null, null], match_reason: [null, null] },
    answer: {
      invoice_number: ['INV-002', null],
      match_score: [1, null],
      match_reason: [
        expect.stringMatching(/^Matched asset "April" .* by its invoice_number/),
        expect.stringMatching(/^No asset matched: /),
      ],
    },
  },
  {
    title: 'a field one asset spells differently is the same field',
    assets: assetsOf([
      ['a', { 'Order No': 'A-100' }],
      ['b', { order_no: 'A-200' }],
    ]),
    data: { orderNo: 'A-200' },
    answer: { orderNo: 'A-200' },
  },
  {
    title: 'a value the asset leaves empty counts half against it',
    assets: assetsOf([
      ['a', { vendor: 'Acme', phone: null }],
      ['b', { vendor: 'Acme', phone: '+49 30 1234' }],
    ]),
    data: { vendor: 'Acme', phone: '030 1234' },
    answer: { vendor: 'Acme', phone: '+49 30 1234' },
  },
  {
    title: 'an empty table matches nothing and says so',
    assets: [],
    data: { vendor: ['Acme'] },
    answer: { vendor: [null] },
    says: ['item 1: no asset matched: the table has no assets.'],
  },
  {
    title: 'no value matches nothing and says so',
    data: { vendor: null, total: '' },
    answer: { vendor: null, total: null },
    says: ['No asset matched: no value is given.'],
  },
  {
    title: 'empty lists stay empty',
    data: { vendor: [] },
    answer: { vendor: [] },
    says: ['Nothing to match'],
  },
  {
    title: 'names that every object has are ordinary fields',
    assets: assetsOf([
      ['a', { constructor: 'Brunel' }],
      ['b', { other: 1 }],
    ]),
    data: { constructor: 'brunel', toString: 'x' },
    answer: { constructor: 'Brunel', toString: null },
  },
]

describe('a threshold in the input', () => {
  const data = { vendor: 'ACME', total: 1230, date: '31 March 2024' }

  test('decides what is a match, stays in the answer, and is told', () => {
    const low = run({ match_threshold: 0.3, ...data })
    expect(low.matches).toEqual(['asset-0'])
    expect(Object.entries(low.data)).toEqual([
      ['match_threshold', 0.3],
      ['vendor', 'Acme GmbH'],
      ['total', 1234.56],
      ['date', '2024-03-31'],
    ])
    const high = run({ ...data, match_threshold: '0.99' })
    expect(high.matches).toEqual([undefined])
    expect(high.reasoning).toMatch(
      /the nearest, asset "March" \(asset-0\), reaches 0\.\d\d of the 0\.99 needed/,
    )
    expect(high.reasoning).not.toContain('match_threshold')
  })

  test('holds for the rows of files, and is no item of its own', () => {
    const rows = [{ vendor: 'Globex Limited', total: 99 }]
    const result = run({ match_threshold: 1 }, invoices, [{ name: 'a.csv', rows }])
    expect(result.matches).toEqual([undefined])
    expect(result.reasoning).toMatch(/of the 1\.00 needed/)
  })

  test.each([0, -1, 1.1, 'half', null])('%j is none, and the usual one holds', (threshold) => {
    expect(run({ ...data, match_threshold: threshold }).matches).toEqual(run(data).matches)
  })

  test('is an ordinary value where the table has a field of its name', () => {
    const assets = assetsOf([['a', { vendor: 'Acme', match_threshold: 0.5 }]])
    expect(run({ vendor: 'Acme', match_threshold: 0.5 }, assets).data).toEqual({
      vendor: 'Acme',
      match_threshold: 0.5,
    })
  })
})

describe('what was not matched', () => {
  test('is told with its three nearest assets, before what was', () => {
    const names = [
      'Northern Light Trading',
      'Northern Light Shipping',
      'Northern Light Mining',
      'Southern Star',
    ]
    const assets = assetsOf(
      names.map((vendor, at) => [`${at}`, { vendor, total: 100 + at, city: `City ${at}` }]),
    )
    const vendor = [...names.slice(0, 1), 'Northern Light Fishing']
    const { reasoning } = run({ vendor, total: [100, 777], city: ['City 0', 'Oslo'] }, assets)
    expect(reasoning).toMatch(
      /item 2: no asset matched: the nearest, asset "\d" .* After it: asset "\d" \(asset-\d\) with 0\.\d\d and asset "\d" \(asset-\d\) with 0\.\d\d\./,
    )
  })

  test('comes first where not every item is told one by one', () => {
    const assets = assetsOf(Array.from({ length: 100 }, (_, at) => [`${at}`, { number: `INV-${1000 + at}` }]))
    const number = [...assets.map(({ rowData }) => rowData['number']), 'none of them']
    const { reasoning } = run({ number }, assets)
    expect(reasoning).toContain('item 101: no asset matched')
    expect(reasoning).toContain('76 further items not told one by one.')
  })
})

describe('what a field tells is learnt from the rows', () => {
  // Two lists of the same shops: their names agree, and each list has its own idea of towns.
  const shops = Array.from({ length: 60 }, (_, at) => `Shop ${word(at)} ${word(at * 7 + 3)}`)
  const assets = assetsOf(shops.map((name, at) => [`${at}`, { name, town: `${word(at * 11)}ham` }]))
  const input = (count: number): Fields => ({
    name: shops.slice(0, count),
    town: shops.slice(0, count).map((_, at) => `${word(at * 13 + 5)}ton`),
  })

  test('of many: that differs with all of them which differs with one', () => {
    expect(run(input(60), assets).matches).toEqual(assets.map(({ id }) => id))
  })

  test('of few nothing is learnt: a text that differs is a veto', () => {
    expect(run(input(3), assets).matches).toEqual([undefined, undefined, undefined])
  })

  test('and a name that nothing else confirms is still no match where names are common', () => {
    const common = assetsOf(
      Array.from({ length: 60 }, (_, at) => [`${at}`, { name: 'Shop', town: `${word(at)}ham` }]),
    )
    const strangers = {
      name: Array.from({ length: 30 }, () => 'Shop'),
      town: Array.from({ length: 30 }, (_, at) => `${word(at * 17)}burg`),
    }
    expect(run(strangers, common).matches.filter((match) => match !== undefined)).toEqual([])
  })
})

test("O'Connor Ltd. meets OCONNOR LIMITED, and not OBRIEN LIMITED", () => {
  const assets = assetsOf([
    ['a', { vendor: 'OBRIEN LIMITED' }],
    ['b', { vendor: 'OCONNOR LIMITED' }],
  ])
  expect(run({ vendor: "O'Connor Ltd." }, assets).matches).toEqual(['asset-1'])
  expect(run({ vendor: 'O Connor Ltd' }, assets).matches).toEqual(['asset-1'])
})

describe('a reconciliation', () => {
  test.each(cases)('$title', ({ assets, data, answer, says = [] }) => {
    const result = run(data, assets)
    expect(result.data).toEqual(answer)
    expect(Object.keys(result.data)).toEqual(Object.keys(data))
    for (const sentence of says) expect(result.reasoning).toContain(sentence)
  })

  test('matches the rows of files and answers them under the names of the files', () => {
    const result = run({ city: 'Paris' }, invoices, [
      { name: 'a.csv', rows: [{ vendor: 'globex' }, { vendor: 'nobody' }] },
      { name: 'a.csv', rows: [{ vendor: 'Globex', total: '' }] },
      { name: 'city', rows: [] },
    ])
    expect(result.data).toEqual({
      city: 'Paris',
      'a.csv': [{ vendor: 'Globex Ltd' }, { vendor: null }],
      'a.csv (2)': [{ vendor: 'Globex Ltd', total: 99.5 }],
      'city (2)': [],
    })
    expect(result.matches).toEqual(['asset-2', 'asset-1', undefined, 'asset-1'])
    expect(result.reasoning).toContain('a.csv row 2: no asset matched')
  })

  test('leaves the input as it is', () => {
    const data = { vendor: ['Acme', { deep: ['x'] }], order: { total: 99.5 } }
    const before = structuredClone(data)
    run(data)
    expect(data).toEqual(before)
  })

  test('tells many items briefly: the first ones, and how many more there are', () => {
    const { reasoning } = run({
      vendor: Array.from({ length: 500 }, (_, at) => `Nobody ${at} ${'x'.repeat(500)}`),
    })
    expect(reasoning).toMatch(/^0 of 500 items matched/)
    expect(reasoning).toContain('475 further items not told one by one.')
    expect(reasoning.length).toBeLessThan(10_000)
  })

  test('matches more equal items than are compared with one item', () => {
    const assets = assetsOf(Array.from({ length: 120 }, (_, at) => [`${at}`, { vendor: 'Acme', at }]))
    const { matches, reasoning } = run({ vendor: Array.from({ length: 100 }, () => 'acme') }, assets)
    expect(matches.every((match) => match !== undefined)).toBe(true)
    expect(new Set(matches).size).toBe(100)
    expect(reasoning).toMatch(/^100 of 100 items matched/)
  })

  test('refuses more items than one run takes', () => {
    const vendor = Array.from({ length: maxItems + 1 }, () => 'Acme')
    expect(() => run({ vendor })).toThrow(RangeError)
  })

  test('finds each of 1,000 rows among 10,000 assets, with and without a key', () => {
    const assets = assetsOf(
      Array.from({ length: 10_000 }, (_, at) => [
        `Invoice ${at}`,
        {
          number: `INV-${String(at).padStart(5, '0')}`,
          vendor: `Vendor ${at % 97} Ltd`,
          total: at * 1.37 + 10,
          day: dayOf(at),
        },
      ]),
    )
    const picked = Array.from({ length: 1000 }, (_, at) => assets[(at * 7919) % 10_000]!)
    const column = (name: string): unknown[] => picked.map((asset) => asset.rowData[name])
    const expected = picked.map((asset) => asset.id)
    expect(run({ number: column('number') }, assets).matches).toEqual(expected)
    const upper = column('vendor').map((vendor) => String(vendor).toUpperCase())
    expect(
      run({ vendor: upper, total: column('total').map(String), day: column('day') }, assets).matches,
    ).toEqual(expected)
  })
})

/** A word of its own for each number. */
function word(at: number): string {
  const syllables = ['ba', 'ke', 'li', 'mo', 'nu', 'pra', 'sti', 'tor', 'wen', 'zul', 'fey', 'gor', 'hin']
  return [at % 13, Math.floor(at / 13) % 13, (at * 5 + 2) % 13].map((each) => syllables[each]).join('')
}

function dayOf(at: number): string {
  return new Date(Date.UTC(2024, 0, 1 + (at % 365))).toISOString().slice(0, 10)
}
