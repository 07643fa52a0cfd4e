// XLSX → rows of the first visible sheet. Our own parser, because libraries allocate every empty cell: a file of 5 KB with one
// distant cell would take all memory of a service. Here only existing cells take memory, and the inflated size is limited.

import { type UnzipFileInfo, strFromU8, unzipSync } from 'fflate'
import { type Row, RowsError, lineCounter, rowsOfCells } from './row.ts'
import { readDateStyles } from './xlsx-dates.ts'
import { type Cell, readSharedStrings, readSheetLines } from './xlsx-sheet.ts'
import { XmlError, readXml } from './xml.ts'

/** Limit of the inflated bytes of all parts that are read. */
const maxInflatedBytes = 128 * 1024 * 1024

/** Rows of the first visible sheet, below its header line; dates are ISO text. Throws RowsError. */
export function parseXlsxRows(bytes: Uint8Array, maxRows: number = Infinity): Row[] {
  const parts = unzippedParts(bytes)
  try {
    return rowsOfCells(sheetLines(parts, maxRows), maxRows)
  } catch (error) {
    if (error instanceof XmlError)
      throw new RowsError(`not a readable XLSX file: ${error.message}`, { cause: error })
    throw error
  }
}

type Parts = ReadonlyMap<string, string>

function sheetLines(parts: Parts, maxRows: number): Cell[][] {
  const { path, date1904 } = firstSheet(parts)
  const sheet = parts.get(path)
  if (sheet === undefined) throw new RowsError(`not an XLSX file: it has no ${path}`)
  return readSheetLines(sheet, {
    sharedStrings: readSharedStrings(parts.get('xl/sharedStrings.xml')),
    dateStyles: readDateStyles(parts.get('xl/styles.xml')),
    date1904,
    count: lineCounter(maxRows),
  })
}

/** The part of the first visible sheet; of the first one if all are hidden. */
function firstSheet(parts: Parts): { path: string; date1904: boolean } {
  const workbook = parts.get('xl/workbook.xml')
  if (workbook === undefined) throw new RowsError('not an XLSX file: it has no xl/workbook.xml')
  const targets = relationTargets(parts.get('xl/_rels/workbook.xml.rels'))
  const sheets: { id: string; isHidden: boolean }[] = []
  let date1904 = false
  readXml(workbook, {
    open(name, attributes) {
      if (name === 'workbookPr') date1904 = /^(1|true)$/.test(attributes.get('date1904') ?? '')
      if (name !== 'sheet') return
      const state = attributes.get('state') ?? 'visible'
      sheets.push({ id: attributes.get('id') ?? '', isHidden: state !== 'visible' })
    },
  })
  const chosen = sheets.find((sheet) => !sheet.isHidden) ?? sheets[0]
  if (chosen === undefined) throw new RowsError('the XLSX file has no sheet')
  const target = targets.get(chosen.id) ?? 'worksheets/sheet1.xml'
  return { path: target.startsWith('/') ? target.slice(1) : `xl/${target}`, date1904 }
}

function relationTargets(relations: string | undefined): ReadonlyMap<string, string> {
  const targets = new Map<string, string>()
  if (relations === undefined) return targets
  readXml(relations, {
    open(name, attributes) {
      const id = attributes.get('Id')
      const target = attributes.get('Target')
      if (name === 'Relationship' && id !== undefined && target !== undefined) targets.set(id, target)
    },
  })
  return targets
}

function unzippedParts(bytes: Uint8Array): Parts {
  let inflatedBytes = 0
  const wanted = ({ name, originalSize }: UnzipFileInfo): boolean => {
    if (!/^xl\/(workbook|styles|sharedStrings|worksheets\/[^/]+|_rels\/workbook)\.xml(\.rels)?$/.test(name))
      return false
    inflatedBytes += originalSize
    if (inflatedBytes > maxInflatedBytes)
      throw new RowsError('the XLSX file is larger than 128 MB once inflated')
    return true
  }
  let files: Record<string, Uint8Array>
  try {
    // fflate writes no more bytes than `originalSize`, so a part that declares too little is cut.
    files = unzipSync(bytes, { filter: wanted })
  } catch (error) {
    if (error instanceof RowsError) throw error
    throw new RowsError('not an XLSX file: it is no zip archive', { cause: error })
  }
  return new Map(Object.entries(files).map(([name, content]) => [name, strFromU8(content)]))
}
