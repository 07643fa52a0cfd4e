// Dates in XLSX are numbers (serials) in cells with a date style. This file finds the date styles, and converts serials to text.

import { readXml } from './xml.ts'

const dayMs = 86_400_000
/** Days from serial 0 (30 December 1899, or 1 January 1904 in files that say so) to 1 January 1970. */
const daysTo1970 = { system1900: 25_569, system1904: 24_107 }
/** Serial of 29 February 1900, a day that did not exist. So serials before it count from 31 December 1899, one day later. */
const phantomLeapDay = 60

/** Indexes of the cell styles that show a date or time. */
export function readDateStyles(stylesXml: string | undefined): Set<number> {
  const dateStyles = new Set<number>()
  if (stylesXml === undefined) return dateStyles
  const customFormats = new Map<number, string>()
  let isInCellStyles = false
  let style = 0
  readXml(stylesXml, {
    open(name, attributes) {
      if (name === 'numFmt') {
        customFormats.set(Number(attributes.get('numFmtId')), attributes.get('formatCode') ?? '')
      } else if (name === 'cellXfs') {
        isInCellStyles = true
      } else if (name === 'xf' && isInCellStyles) {
        const id = Number(attributes.get('numFmtId') ?? 0)
        const custom = customFormats.get(id)
        if (custom === undefined ? isBuiltInDateFormat(id) : isDateFormat(custom)) dateStyles.add(style)
        style++
      }
    },
    close(name) {
      if (name === 'cellXfs') isInCellStyles = false
    },
  })
  return dateStyles
}

/** Returns `2024-01-31`, `2024-01-31T08:30:00`, or `08:30:00` (serial below 1); the serial itself if negative or out of range. */
export function isoOfSerial(serial: number, date1904: boolean): string | number {
  let days = serial
  if (!date1904 && days < phantomLeapDay && days >= 1) days += 1
  const seconds = Math.round((days - (date1904 ? daysTo1970.system1904 : daysTo1970.system1900)) * 86_400)
  const date = new Date(seconds * 1000)
  if (Number.isNaN(date.getTime()) || serial < 0) return serial
  const iso = date.toISOString()
  if (serial < 1 && !date1904) return iso.slice(11, 19)
  return (seconds * 1000) % dayMs === 0 ? iso.slice(0, 10) : iso.slice(0, 19)
}

// ECMA-376 part 1, 18.8.30: ids of predefined date and time formats, which files do not define.
function isBuiltInDateFormat(id: number): boolean {
  return (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 45 && id <= 47) || (id >= 50 && id <= 58)
}

/** True if a code like `dd/mm/yy` has a date letter outside of literals: "…", `\x`, `_x`, `*x`, `[Red]`; but `[h]` is a time. */
function isDateFormat(code: string): boolean {
  const withoutLiterals = code.replaceAll(/"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, '')
  return !/general/i.test(withoutLiterals) && /[dmyhs]/i.test(withoutLiterals)
}
