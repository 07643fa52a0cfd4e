// Parsing of a statement's values for rules.ts. Written for exactly this data; the engine has its own, general parsing.

export function plain(text: string): string {
  return text
    .toLowerCase()
    .replaceAll('ä', 'ae')
    .replaceAll('ö', 'oe')
    .replaceAll('ü', 'ue')
    .replaceAll(/[^a-z0-9]+/g, ' ')
    .trim()
}

export function amountIn(text: string): number {
  const bare = text.replaceAll(/[^\d.,]/g, '')
  return Number(bare.includes(',') ? bare.replaceAll('.', '').replace(',', '.') : bare)
}

/** Returns days since 1970, for `31.12.2026` and `2026-12-31`. */
export function dayIn(text: string): number {
  const [day, month, year] = text.includes('.') ? text.split('.') : text.split('-').toReversed()
  return Math.round(Date.UTC(Number(year!.padStart(4, '20')), Number(month) - 1, Number(day)) / 86_400_000)
}
