import { strToU8, zipSync } from 'fflate'
import { describe, expect, test } from 'vitest'
import { RowsError } from '../../src/rows/row.ts'
import { parseXlsxRows } from '../../src/rows/xlsx.ts'
import { xlsxFile, xlsxOfLines } from './xlsx-file.ts'

const header =
  '<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c><c r="B1" t="inlineStr"><is><t>b</t></is></c></row>'

describe('the first visible sheet of an XLSX file', () => {
  test('becomes one object per row, with texts, numbers and booleans as they are', () => {
    const rows = `${header}<row r="2"><c r="A2"><v>1.5</v></c><c r="B2" t="b"><v>1</v></c></row>`
    expect(parseXlsxRows(xlsxFile({ rows }))).toEqual([{ a: 1.5, b: true }])
  })

  test('reads shared strings, rich text without its runs and without reading aids', () => {
    const sharedStrings = [
      '<t>plain &amp; simple</t>',
      '<r><t>ri</t></r><r><t>ch</t></r><rPh><t>aid</t></rPh>',
    ]
    const rows = `${header}<row r="2"><c r="A2" t="s"><v>0</v></c><c r="B2" t="s"><v>1</v></c></row>`
    expect(parseXlsxRows(xlsxFile({ rows, sharedStrings }))).toEqual([{ a: 'plain & simple', b: 'rich' }])
  })

  test('gives formula results, and nothing for errors', () => {
    const rows = `${header}<row r="2"><c r="A2" t="str"><f>UPPER("x")</f><v>X</v></c><c r="B2" t="e"><v>#REF!</v></c></row>`
    expect(parseXlsxRows(xlsxFile({ rows }))).toEqual([{ a: 'X', b: null }])
  })

  test.each([
    ['a built-in date format', { styles: [0, 14] }, 45_322, '2024-01-31'],
    ['a date and time', { styles: [0, 22] }, 45_322.5, '2024-01-31T12:00:00'],
    [
      'a custom date format',
      { styles: [0, 164], customFormats: { 164: 'dd\\.mm\\.yyyy' } },
      45_322,
      '2024-01-31',
    ],
    [
      'a custom format with no date in it',
      { styles: [0, 164], customFormats: { 164: '0.00 &quot;days&quot;' } },
      45_322,
      45_322,
    ],
    ['a time of day', { styles: [0, 20] }, 0.25, '06:00:00'],
    ['the calendar of 1904', { styles: [0, 14], date1904: true }, 43_860, '2024-01-31'],
    ['a day before the leap day that never was', { styles: [0, 14] }, 1, '1900-01-01'],
  ])('shows %s as ISO text', (_, parts, serial, expected) => {
    const rows = `${header}<row r="2"><c r="A2" s="1"><v>${serial}</v></c></row>`
    expect(parseXlsxRows(xlsxFile({ rows, ...parts }))).toEqual([{ a: expected, b: null }])
  })

  test('needs no cell references and no plain element names', () => {
    const rows = '<row><c t="inlineStr"><is><t>a</t></is></c></row><row><c><v>7</v></c></row>'
    expect(parseXlsxRows(xlsxFile({ rows, prefix: 'x' }))).toEqual([{ a: 7 }])
  })

  test('keeps the columns of cells that leave gaps, and leaves empty rows out', () => {
    const rows = `${header}<row r="2"/><row r="900000"><c r="B900000"><v>2</v></c></row>`
    expect(parseXlsxRows(xlsxFile({ rows }))).toEqual([{ a: null, b: 2 }])
  })

  test('costs no more for far cells than for near ones', () => {
    const lines = Array.from(
      { length: 100_000 },
      (_, at) => `<row><c r="XFD${at + 2}"><v>1</v></c><c r="A${at + 2}"><v>${at}</v></c></row>`,
    )
    expect(parseXlsxRows(xlsxFile({ rows: header + lines.join('') }))).toHaveLength(100_000)
  })

  test('is refused where one far header would give every row thousands of columns', () => {
    const lines = Array.from({ length: 1000 }, () => '<row><c r="A2"><v>1</v></c></row>')
    const rows = `<row><c r="XFD1" t="inlineStr"><is><t>far</t></is></c></row>${lines.join('')}`
    expect(() => parseXlsxRows(xlsxFile({ rows }))).toThrow('more than 5000000 cells')
  })

  test('has rows as programs write them', () => {
    expect(
      parseXlsxRows(
        xlsxOfLines([
          ['sku', 'qty'],
          ['A-1', 3],
        ]),
      ),
    ).toEqual([{ sku: 'A-1', qty: 3 }])
  })
})

describe('what is no XLSX file', () => {
  test.each([
    ['bytes that are no zip archive', strToU8('a,b\n1,2\n'), 'no zip archive'],
    ['an archive of something else', zipSync({ 'word/document.xml': strToU8('<x/>') }), 'xl/workbook.xml'],
    [
      'a sheet that is not XML',
      xlsxFile({ rows: '', extra: { 'xl/worksheets/sheet2.xml': '<a><b></a>' } }),
      'not a readable',
    ],
    ['a sheet without a header', xlsxFile({ rows: '' }), 'no header line'],
  ])('is refused: %s', (_, bytes, message) => {
    expect(() => parseXlsxRows(bytes)).toThrow(RowsError)
    expect(() => parseXlsxRows(bytes)).toThrow(message)
  })

  const line = '<row><c t="s"><v>0</v></c></row>'
  test.each([
    [
      'an element of 300 attributes',
      { rows: `${header}<row ${Array.from({ length: 300 }, (_, at) => `a${at}=""`).join(' ')}/>` },
      'an element with more than 256 attributes',
    ],
    [
      'an element that never closes',
      { rows: header + '<a>'.repeat(1_000_000) },
      'more than 256 elements within each other',
    ],
    [
      'deep shared strings',
      { rows: header, sharedStrings: ['<r>'.repeat(300) + '</r>'.repeat(300)] },
      'more than 256 elements within each other',
    ],
    [
      'cells that are all empty',
      { rows: `${header}<row>${'<c/>'.repeat(6_000_000)}</row>` },
      'more than 5000000 cells: split the file',
    ],
    ['rows that are all empty', { rows: header + '<row/>'.repeat(1_100_000) }, 'more than 1048576 rows'],
    [
      'a text of entities',
      { rows: `${header}<row><c t="str"><v>${'&lt;'.repeat(6_000_000)}</v></c></row>` },
      'more than 5000000 entities',
    ],
    [
      'a long shared string in every cell',
      { rows: header + line.repeat(100), sharedStrings: [`<t>${'long '.repeat(200_000)}</t>`] },
      'more than 67108864 characters: split the file',
    ],
  ])('is refused by its size: %s', (_, parts, message) => {
    const bytes = xlsxFile(parts)
    expect(() => parseXlsxRows(bytes)).toThrow(message)
  })

  test('is refused before it is inflated when it would be larger than 128 MB', () => {
    const bytes = zipSync({
      'xl/workbook.xml': strToU8('<workbook/>'),
      'xl/worksheets/sheet1.xml': strToU8('x'),
    })
    declareInflatedSize(bytes, 300 * 1024 * 1024)
    expect(() => parseXlsxRows(bytes)).toThrow('larger than 128 MB')
  })

  test('inflates to no more than it declares', () => {
    const honest = xlsxFile({
      rows: `${header}<row r="2"><c r="A2"><v>1</v></c></row>${' '.repeat(100_000)}`,
    })
    declareInflatedSize(honest, 50)
    expect(() => parseXlsxRows(honest)).toThrow(RowsError)
  })
})

/** Writes a size into every entry of the archive's directory. */
function declareInflatedSize(archive: Uint8Array, size: number): void {
  const view = new DataView(archive.buffer, archive.byteOffset, archive.byteLength)
  for (let at = 0; at < archive.byteLength - 46; at++) {
    if (view.getUint32(at, true) === 0x02014b50) view.setUint32(at + 24, size, true)
  }
}
