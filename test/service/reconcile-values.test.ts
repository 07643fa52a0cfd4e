import { describe, expect, test } from 'vitest'
import { readAmount } from '../../src/service/reconcile/amounts.ts'
import { comparableOf } from '../../src/service/reconcile/comparable.ts'
import { readDays } from '../../src/service/reconcile/dates.ts'
import { fieldKeyOf, normaliseText } from '../../src/service/reconcile/normalise.ts'
import { similarityOf } from '../../src/service/reconcile/similarity.ts'

describe('text', () => {
  test.each([
    ['  ACME   Corp. ', 'acme corp'],
    ['Müller & Söhne', 'muller sohne'],
    ['Straße', 'strasse'],
    ['ＡＣＭＥ', 'acme'],
    ['ﬁnance', 'finance'],
    ['INV-2024/001', 'inv 2024 001'],
    ['1.5 kg', '1.5 kg'],
    ['3,5', '3.5'],
    ['हिन्दी', 'हिन्दी'],
    ['—', '—'],
    ['', ''],
  ])('%j is compared as %j', (text, expected) => {
    expect(normaliseText(text)).toBe(expected)
  })

  test.each(['Invoice Number', 'invoice_number', 'invoiceNumber', 'INVOICE-NUMBER'])(
    '%s names one field',
    (name) => {
      expect(fieldKeyOf(name)).toBe('invoicenumber')
    },
  )
})

describe('a number', () => {
  test.each([
    ['1234.56', [1234.56]],
    ['1,234.56', [1234.56]],
    ['1.234,56', [1234.56]],
    ['1 234,56', [1234.56]],
    ['1\u202F234,56', [1234.56]],
    ["1'234.56", [1234.56]],
    ['1,234,567', [1_234_567]],
    ['1.234.567', [1_234_567]],
    ['12,34,567.80', [1_234_567.8]],
    ['1,234', [1234, 1.234]],
    ['1.234', [1234, 1.234]],
    ['0.123', [0.123]],
    ['12,5', [12.5]],
    ['-12', [-12]],
    ['12-', [-12]],
    ['(12.00)', [-12]],
    ['−12', [-12]],
    ['00123', [123]],
  ])('%j is read as %j', (text, readings) => {
    expect(readAmount(text)?.readings.toSorted((a, b) => b - a)).toEqual(readings)
  })

  test.each([
    ['€ 1.234,56', 1234.56, 'EUR'],
    ['1.234,56 €', 1234.56, 'EUR'],
    ['EUR 12', 12, 'EUR'],
    ['12.50 usd', 12.5, 'USD'],
    ['-$12.50', -12.5, 'USD'],
    ['$ -12.50', -12.5, 'USD'],
    ['19 %', 19, '%'],
  ])('%j is %d %s', (text, number, unit) => {
    expect(readAmount(text)).toEqual({ readings: [number], unit })
  })

  test.each([
    '',
    'abc',
    '12 kg',
    '1.2.2024',
    '1,23,4',
    '12.345,6,7',
    'INV 12',
    '(12',
    '12 34',
    '4111111111111111',
    '$ 12 EUR',
  ])('%j is none', (text) => {
    expect(readAmount(text)).toBeUndefined()
  })
})

describe('a day', () => {
  test.each([
    ['2024-01-31', ['2024-01-31']],
    ['2024-1-5', ['2024-01-05']],
    ['2024/01/31', ['2024-01-31']],
    ['20240131', ['2024-01-31']],
    ['2024-01-31T08:30:00Z', ['2024-01-31']],
    ['2024-01-31T23:30:00+02:00', ['2024-01-31']],
    ['31.1.2024', ['2024-01-31']],
    ['03.04.2024', ['2024-04-03']],
    ['31.01.24', ['2024-01-31']],
    ['1.5.99', ['1999-05-01']],
    ['1/31/2024', ['2024-01-31']],
    ['31/1/2024', ['2024-01-31']],
    ['03/04/2024', ['2024-04-03', '2024-03-04']],
    ['04/04/2024', ['2024-04-04']],
    ['1/31/2024 8:30 PM', ['2024-01-31']],
    ['31 January 2024', ['2024-01-31']],
    ['31. Januar 2024', ['2024-01-31']],
    ['Jan 31, 2024', ['2024-01-31']],
    ['January 31st, 2024', ['2024-01-31']],
    ['31-Jan-24', ['2024-01-31']],
    ['1er', []],
    ['5 mars 2024', ['2024-03-05']],
    ['5 de marzo de 2024', ['2024-03-05']],
    ['30.2.2024', []],
    ['2024-13-01', []],
    ['13/13/2024', []],
    ['12.5', []],
    ['5 apples 2024', []],
  ])('%j is read as %j', (text, days) => {
    expect(readDays(text)).toEqual(days)
  })
})

describe('likeness', () => {
  const likeness = (a: unknown, b: unknown, isCode = false): number =>
    similarityOf(comparableOf(a)!, comparableOf(b)!, { isCode, wordWeight: () => 1 })

  test.each([
    ['ACME Corp', 'acme corp.'],
    ['ACME-Corp', 'AcmeCorp'],
    ['1.234,56 €', 1234.56],
    ['1,234', '1.234,00'],
    ['00123', 123],
    ['31.1.2024', '2024-01-31'],
    ['03/04/2024', '2024-03-04'],
    [0.1 + 0.2, '0.3'],
    [true, 'TRUE'],
    [
      ['a', 'b'],
      ['a', 'b'],
    ],
  ])('%j and %j are the same', (a, b) => {
    expect(likeness(a, b)).toBe(1)
  })

  test.each([
    ['EUR 12', 'USD 12'],
    ['1.5 kg', '15 kg'],
    ['-5', '5'],
    ['ACME', 'Globex'],
    ['2024-01-31', '2024-03-31'],
    ['4111111111111111', '4111111111111112'],
    [100, 200],
    ['999999999999998', '999999999999999'],
  ])('%j and %j are not', (a, b) => {
    expect(likeness(a, b)).toBeLessThan(1)
  })

  test.each([
    ['a typo', 'Globex Corporation', 'Globx Corporation', 0.85, 0.99],
    ['another order of words', 'Hans Müller', 'Müller, Hans', 0.99, 0.99],
    ['a word more', 'ACME', 'ACME Tools', 0.87, 0.88],
    ['a legal form more', 'ACME', 'ACME GmbH', 0.99, 0.99],
    ['a legal form written out, and no stroke', "O'Connor Ltd.", 'OCONNOR LIMITED', 0.99, 0.99],
    ['initials without points', 'S.A.R.L. Dupont', 'Dupont SARL', 0.99, 0.99],
    ['three words more', 'ACME', 'ACME and some others', 0.8, 0.84],
    ['another number in the same words', 'Room 12', 'Room 13', 0.5, 0.6],
    ['an amount one per cent off', 421.26, 425.47, 0.8, 0.85],
    ['a cash discount', '412,83 €', 421.26, 0.95, 0.95],
    ['the fee of a bank', 416.26, 421.26, 0.95, 0.95],
    ['a sum made round', 421, 421.26, 0.95, 0.95],
    ['the first of two instalments', 210.63, 421.26, 0.7, 0.8],
    ['two digits that changed places', 241.26, 421.26, 0.7, 0.8],
    ['two digits that changed places, one of them a zero', 162.88, 1062.88, 0.7, 0.8],
    ['a day off', '2024-01-31', '2024-02-01', 0.75, 0.8],
    ['two weeks off', '2024-01-31', '2024-02-14', 0.5, 0.6],
    ['a name in capitals, without its umlaut', 'BRUECKER GMBH', 'Brücker GmbH', 0.95, 0.99],
    ['a name cut by a bank', 'NORDLICHT HANDE', 'Nordlicht Handels GmbH', 0.75, 0.99],
    ['an abbreviated word', 'Nordlicht Hand. GmbH', 'Nordlicht Handels GmbH', 0.9, 0.99],
  ])('%s leaves values alike: %j, %j', (_, a, b, least, most) => {
    expect(likeness(a, b)).toBeGreaterThanOrEqual(least)
    expect(likeness(a, b)).toBeLessThanOrEqual(most)
  })

  test.each([
    ['more than a discount', 380, 421.26],
    ['the double', 842.52, 421.26],
    ['half of a round number, as many are', 5, 10],
    ['two digits, not side by side, that changed places', 124.26, 421.26],
    ['the other sign', -421.26, 421.26],
  ])('%s is another amount: %j, %j', (_, given, own) => {
    expect(likeness(given, own)).toBeLessThan(0.1)
  })

  test('of codes is strict: one character off counts half at most, one digit in a number nothing', () => {
    expect(likeness('INV-0042', 'INV-0O42', true)).toBeLessThanOrEqual(0.5)
    expect(likeness('1000042', '1000043', true)).toBe(0)
    expect(likeness('INV-0042', 'inv 0042', true)).toBe(1)
    expect(likeness('invoice INV-0042 of May, thanks', 'INV-0042', true)).toBeGreaterThan(0.9)
    expect(likeness('invoice 1042', 'INV-2026-01042', true)).toBeGreaterThan(0.7)
    expect(likeness('invoice 1043', 'INV-2026-01042', true)).toBe(0)
  })

  test.each([null, undefined, '', '  ', [], {}])('%j is nothing to compare', (value) => {
    expect(comparableOf(value)).toBeUndefined()
  })
})
