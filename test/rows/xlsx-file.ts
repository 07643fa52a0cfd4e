// XLSX files made by hand, down to the single part, so that tests can hold what no spreadsheet program would write.

import { strToU8, zipSync } from 'fflate'

export interface XlsxParts {
  /** The content of `<sheetData>`. */
  readonly rows: string
  readonly sharedStrings?: readonly string[]
  /** `<cellXfs>` entries: a number format id per cell style. */
  readonly styles?: readonly number[]
  readonly customFormats?: Readonly<Record<number, string>>
  readonly date1904?: boolean
  /** Put before every element of the sheet: some writers use `x:`. */
  readonly prefix?: string
  /** Parts in place of, or beside, the usual ones. */
  readonly extra?: Readonly<Record<string, string>>
}

const namespace = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'

export function xlsxFile(parts: XlsxParts): Uint8Array {
  const formats = Object.entries(parts.customFormats ?? {})
    .map(([id, code]) => `<numFmt numFmtId="${id}" formatCode="${code}"/>`)
    .join('')
  const styles = (parts.styles ?? [0]).map((id) => `<xf numFmtId="${id}"/>`).join('')
  const xml: Record<string, string> = {
    'xl/workbook.xml': `<workbook ${namespace} xmlns:r="r"><workbookPr date1904="${parts.date1904 === true ? 1 : 0}"/><sheets><sheet name="Hidden" sheetId="1" state="hidden" r:id="rId1"/><sheet name="Rows" sheetId="2" r:id="rId2"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Target="/xl/worksheets/sheet2.xml"/></Relationships>`,
    'xl/worksheets/sheet1.xml': `<worksheet ${namespace}><sheetData><row><c t="inlineStr"><is><t>hidden</t></is></c></row></sheetData></worksheet>`,
    'xl/worksheets/sheet2.xml': sheetXml(parts.rows, parts.prefix),
    'xl/styles.xml': `<styleSheet ${namespace}><numFmts>${formats}</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs>${styles}</cellXfs></styleSheet>`,
    'xl/sharedStrings.xml': `<sst ${namespace}>${(parts.sharedStrings ?? []).map((text) => `<si>${text}</si>`).join('')}</sst>`,
    ...parts.extra,
  }
  return zipSync(Object.fromEntries(Object.entries(xml).map(([name, text]) => [name, strToU8(text)])))
}

/** A sheet of plain texts and numbers, header included. */
export function xlsxOfLines(lines: readonly (readonly (string | number)[])[]): Uint8Array {
  const cell = (value: string | number): string =>
    typeof value === 'number' ? `<c><v>${value}</v></c>` : `<c t="inlineStr"><is><t>${value}</t></is></c>`
  return xlsxFile({ rows: lines.map((line) => `<row>${line.map(cell).join('')}</row>`).join('') })
}

function sheetXml(rows: string, prefix: string | undefined): string {
  if (prefix === undefined) return `<worksheet ${namespace}><sheetData>${rows}</sheetData></worksheet>`
  const prefixed = rows.replaceAll(/<(\/?)(\w)/g, `<$1${prefix}:$2`)
  return `<${prefix}:worksheet xmlns:${prefix}="m"><${prefix}:sheetData>${prefixed}</${prefix}:sheetData></${prefix}:worksheet>`
}
