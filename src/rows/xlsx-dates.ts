// Dates in XLSX are numbers whose style shows a date: which styles do, and what the number says.

import { readXml } from './xml.ts'

const dayMs = 86_400_000
/** Days from the sheet's day zero (30 December 1899, or 1 January 1904) to 1 January 1970. */
const daysTo1970 = { system1900: 25_569, system1904: 24_107 }
/** The 1900 calendar counts a 29 February 1900 that never was: days before it are one off. */
const phantomLeapDay = 60

/** Numbers of the cell styles that show a date or time. */
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

/** `2024-01-31`, `2024-01-31T08:30:00` or, for a time without a day, `08:30:00`. */
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

// ECMA-376 part 1, 18.8.30: the date and time formats every program has without writing them down.
function isBuiltInDateFormat(id: number): boolean {
  return (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 45 && id <= 47) || (id >= 50 && id <= 58)
}

function isDateFormat(code: string): boolean {
  const shown = code.replaceAll(/"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, '')
  return !/general/i.test(shown) && /[dmyhs]/i.test(shown)
}
