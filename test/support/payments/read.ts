// The values of a statement as the rules read them. Written for this data, unlike the engine's own reading.

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

/** Days since the epoch. */
export function dayIn(text: string): number {
  const [day, month, year] = text.includes('.') ? text.split('.') : text.split('-').toReversed()
  return Math.round(Date.UTC(Number(year!.padStart(4, '20')), Number(month) - 1, Number(day)) / 86_400_000)
}
