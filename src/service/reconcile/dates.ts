// Parses days as people write them: ISO · 31.1.2024 · 1/31/2024 · 31/01/24 · 31 January 2024 · Jan 31, 2024 · 31-Jan-24.

const monthLocales = ['en', 'de', 'fr', 'es', 'it', 'nl', 'pt'] as const
/** Month names by language, computed when they are first needed: that takes 12 ms. */
let months: ReadonlyMap<string, number> | undefined

/** Returns the days, `YYYY-MM-DD`, that a text may mean: two where day and month may be swapped (`03/04/2024`), none for others. */
export function readDays(text: string): string[] {
  // A time of day is removed: only the day is compared, as it is written.
  const day = text
    .trim()
    .toLowerCase()
    .replace(/[t ]+\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?( ?[ap]\.?m\.?)?( ?(z|utc|gmt|[+-]\d{2}:?\d{2}))?$/, '')
  return [...new Set([...readNumericDay(day), ...readNamedDay(day)])]
}

function readNumericDay(text: string): string[] {
  const iso =
    /^(\d{4})(?:-(\d{1,2})-(\d{1,2})|\/(\d{1,2})\/(\d{1,2})|\.(\d{1,2})\.(\d{1,2})|(\d{2})(\d{2}))$/.exec(
      text,
    )
  if (iso !== null) {
    const [month, day] = iso.slice(2).filter((part) => part !== undefined)
    return dayOf(iso[1], month, day)
  }
  const [, first, mark, second, year] = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})$/.exec(text) ?? []
  if (mark === '.') return dayOf(year, second, first)
  return [...dayOf(year, second, first), ...dayOf(year, first, second)]
}

function readNamedDay(text: string): string[] {
  const dayFirst =
    /^(\d{1,2})(?:st|nd|rd|th|\.)?[ -]*(?:de |of )?(\p{L}+)\.?,?[ -]*(?:de |of )?(\d{4}|\d{2})$/u.exec(text)
  if (dayFirst !== null) return dayOf(dayFirst[3], monthOf(dayFirst[2]), dayFirst[1])
  const monthFirst = /^(\p{L}+)\.?[ -]*(\d{1,2})(?:st|nd|rd|th)?,?[ -]+(\d{4}|\d{2})$/u.exec(text)
  if (monthFirst !== null) return dayOf(monthFirst[3], monthOf(monthFirst[1]), monthFirst[2])
  return []
}

function monthOf(name: string | undefined): string | undefined {
  months ??= monthNames()
  return months.get(bareName(name ?? ''))?.toString()
}

function dayOf(year: string | undefined, month: string | undefined, day: string | undefined): string[] {
  if (year === undefined || month === undefined || day === undefined) return []
  const fullYear = year.length === 2 ? Number(year) + (Number(year) < 70 ? 2000 : 1900) : Number(year)
  const date = new Date(Date.UTC(fullYear, Number(month) - 1, Number(day)))
  const isReal =
    fullYear >= 1000 && date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day)
  return isReal ? [date.toISOString().slice(0, 10)] : []
}

function monthNames(): ReadonlyMap<string, number> {
  const names = new Map<string, number>()
  for (const locale of monthLocales) {
    for (const form of ['long', 'short'] as const) {
      const format = new Intl.DateTimeFormat(locale, { month: form, timeZone: 'UTC' })
      for (let month = 1; month <= 12; month++) {
        const name = bareName(format.format(Date.UTC(2024, month - 1, 15)).toLowerCase())
        if (!names.has(name)) names.set(name, month)
      }
    }
  }
  return names
}

function bareName(name: string): string {
  return name.normalize('NFKD').replaceAll(/[^\p{L}]/gu, '')
}

/** Days from `b` to `a`, of the two readings that are nearest to each other. Both lists must not be empty. */
export function daysApart(a: readonly string[], b: readonly string[]): number {
  let nearest = Number.POSITIVE_INFINITY
  for (const x of a) {
    for (const y of b) {
      const apart = (Date.parse(x) - Date.parse(y)) / 86_400_000
      if (Math.abs(apart) < Math.abs(nearest)) nearest = apart
    }
  }
  return nearest
}
