import { describe, expect, test } from 'vitest'
import { parseJsonRows } from '../../src/rows/json.ts'
import { RowsError } from '../../src/rows/row.ts'
import { rowFormatOfMimetype, rowFormatOfName } from '../../src/rows/row-format.ts'
import { parseRows } from '../../src/rows/rows.ts'

const rowsOf = (text: string): unknown => parseJsonRows(Buffer.from(text))

describe('a JSON file', () => {
  test.each([
    ['an array of objects', '[{"a":1},{"a":2}]', [{ a: 1 }, { a: 2 }]],
    ['an object with one list of objects', '{"total":2,"rows":[{"a":1},{"a":2}]}', [{ a: 1 }, { a: 2 }]],
    ['a single object', '{"a":1,"tags":["x"]}', [{ a: 1, tags: ['x'] }]],
    ['one object per line', '{"a":1}\n\n{"a":2}\n', [{ a: 1 }, { a: 2 }]],
    ['an empty list', '[]', []],
  ])('is read from %s', (_, text, rows) => {
    expect(rowsOf(text)).toEqual(rows)
  })

  test.each([
    ['text', 'hello', 'not JSON'],
    ['a list of values', '[1,2]', 'must be objects'],
    ['a broken line', '{"a":1}\n{"a":\n', 'line 2 is not JSON'],
  ])('of %s is refused', (_, text, message) => {
    expect(() => rowsOf(text)).toThrow(RowsError)
    expect(() => rowsOf(text)).toThrow(message)
  })
})

// Each of them would become more memory than its reader has, or take minutes.
test.each([
  ['objects', `[${'{},'.repeat(3_000_000)}{}]`, 'more than 5000000 values: split the file'],
  ['objects, one per line', '{"a":{}}\n'.repeat(2_500_001), 'more than 5000000 values: split the file'],
  ['brackets', '['.repeat(6_000_000), 'more than 5000000 values: split the file'],
  [
    'names',
    `[{${Array.from({ length: 20_000 }, (_, at) => `"${at}":1`).join()}}]`,
    'an object has more than 16384 names',
  ],
])('of too many %s is refused before it is parsed', (_, text, message) => {
  expect(() => rowsOf(text)).toThrow(message)
})

test('a text may hold as many commas and brackets as it likes', () => {
  expect(rowsOf(`[{"a":"\\"${',{['.repeat(2_000_000)}"}]`)).toEqual([{ a: `"${',{['.repeat(2_000_000)}` }])
})

test('the format of rows follows from the mimetype, or from the name', () => {
  expect(rowFormatOfMimetype('text/csv')).toBe('csv')
  expect(rowFormatOfMimetype('application/pdf')).toBeUndefined()
  expect(rowFormatOfName('Orders.XLSX')).toBe('xlsx')
  expect(rowFormatOfName('orders.ods')).toBeUndefined()
  expect(rowFormatOfName('csv')).toBeUndefined()
  expect(parseRows(Buffer.from('[{"a":1}]'), 'json')).toEqual([{ a: 1 }])
})

test.each(['[{"id":9007199254740993}]', '{"id":1}\n{"id":9007199254740993}'])(
  'a number that would become another is refused: %s',
  (text) => {
    expect(() => parseJsonRows(Buffer.from(text))).toThrow(
      'the number 9007199254740993 would not be kept as it is: make it text',
    )
    expect(parseJsonRows(Buffer.from('[{"id":"9007199254740993","n":9007199254740992}]'))).toHaveLength(1)
  },
)
