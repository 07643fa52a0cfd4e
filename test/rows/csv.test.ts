import { describe, expect, test } from 'vitest'
import { parseCsvRows } from '../../src/rows/csv.ts'
import { RowsError } from '../../src/rows/row.ts'

const rowsOf = (text: string): unknown => parseCsvRows(Buffer.from(text))

describe('a CSV file', () => {
  test.each([
    ['commas', 'a,b\n1,2\n'],
    ['semicolons, with commas inside', 'a;b\r\n"1";2\r\n'],
    ['tabs', 'a\tb\n1\t2'],
    ['bars', 'a|b\n1|2'],
    ['a byte order mark', '\uFEFFa,b\n1,2'],
  ])('is read with %s', (_, text) => {
    expect(rowsOf(text)).toEqual([{ a: '1', b: '2' }])
  })

  test('has quoted cells with separators, quotes and line ends in them', () => {
    expect(rowsOf('"na;me",note\n"x ""y""","two\nlines"\n')).toEqual([
      { 'na;me': 'x "y"', note: 'two\nlines' },
    ])
  })

  test('has null for empty cells, and for those a short line leaves out', () => {
    expect(rowsOf('a,b,c\n1,,\n2\n')).toEqual([
      { a: '1', b: null, c: null },
      { a: '2', b: null, c: null },
    ])
  })

  test('gives every column a name of its own, and leaves out empty lines and empty cells past the header', () => {
    expect(rowsOf('a,a,\n\n1,2,3,,\n,,\n')).toEqual([{ a: '1', 'a (2)': '2', 'column 3': '3' }])
  })

  test('with a value past the header is refused: a value with the separator in it would be cut', () => {
    expect(() => rowsOf('no,amount\nINV-1,7\n\nINV-2,1,50\n')).toThrow(
      'row 2 (INV-2) has 3 cells, and the header 2: quotes belong around a value that holds a ,',
    )
  })

  test('tells its separator in a first line, as spreadsheets write and read it', () => {
    expect(rowsOf('sep=;\r\na;b\r\n1,5;2\r\n')).toEqual([{ a: '1,5', b: '2' }])
    expect(rowsOf('sep=,\na;b,c\n1,2\n')).toEqual([{ 'a;b': '1', c: '2' }])
  })

  test.each([
    ['UTF-16', Buffer.from('\uFEFFName\nMüller', 'utf16le')],
    ['Windows-1252', Buffer.from('Name\nMüller', 'latin1')],
    ['UTF-8', Buffer.from('Name\nMüller')],
  ])('is read as %s', (_, bytes) => {
    expect(parseCsvRows(bytes)).toEqual([{ Name: 'Müller' }])
  })

  test('with a column named __proto__ changes no object but its row', () => {
    const [row] = parseCsvRows(Buffer.from('__proto__,a\nx,1\n'))
    expect(Object.keys(row!)).toEqual(['__proto__', 'a'])
    expect(({} as Record<string, unknown>)['x']).toBeUndefined()
  })

  test('with thousands of columns of one name gives each a name of its own', () => {
    const [row] = parseCsvRows(Buffer.from(`${'a,'.repeat(16_000)}a\n${'1,'.repeat(16_000)}1\n`))
    expect(Object.keys(row!)).toHaveLength(16_001)
    expect(row).toHaveProperty('a (16001)', '1')
  })

  test.each([
    ['an open quote', 'a,b\n"1,2\n', 'not CSV'],
    ['nothing', '', 'no header line'],
    ['more columns than a sheet can have', 'a,'.repeat(20_000), 'more than 16384 columns'],
  ])('with %s is refused', (_, text, message) => {
    expect(() => rowsOf(text)).toThrow(RowsError)
    expect(() => rowsOf(text)).toThrow(message)
  })
})

test('a line of separators alone is refused before its cells are made', () => {
  expect(() => parseCsvRows(Buffer.alloc(6_000_000, ','))).toThrow('more than 5000000 cells: split the file')
  const quoted = `a\n"${','.repeat(6_000_000)}"\n`
  expect(parseCsvRows(Buffer.from(quoted))).toEqual([{ a: ','.repeat(6_000_000) }])
})
