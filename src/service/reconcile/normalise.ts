// Normalises text for comparison, so that the same words are equal however they were typed.

/**
 * Compatibility forms unified (NFKC), lower case, accents off Latin letters, punctuation as single spaces. A point or comma
 * between digits stays, as a point, so that `1.5 kg` never equals `15 kg`. Signs alone (`—`, `👍`) stay as they are.
 */
export function normaliseText(text: string): string {
  const plain = joined(unified(text).toLowerCase().trim())
  const words = plain
    .replaceAll(/(?<=\p{N})([.,])(?=\p{N})|[^\p{L}\p{N}\p{M}]+/gu, (_, point?: string) =>
      point === undefined ? ' ' : '.',
    )
    .trim()
  return words === '' ? plain : words
}

function unified(text: string): string {
  // Most values are plain ASCII and need none of this; tables have many thousands of them.
  if (/^[\x20-\x7E]*$/.test(text)) return text
  return text
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036F]/g, '')
    .normalize('NFKC')
    .replaceAll('ß', 'ss')
}

/** Joins `o'connor` and `s.a.r.l.` into one word each: both are also written without apostrophe and points. */
function joined(text: string): string {
  if (!/['’ʼ`.]/.test(text)) return text
  return text
    .replaceAll(/(?<=\p{L})['’ʼ`](?=\p{L})/gu, '')
    .replaceAll(/(?<![\p{L}\p{N}])\p{L}(?:\. ?\p{L}(?![\p{L}\p{N}]))+/gu, (initials) =>
      initials.replaceAll(/[. ]/g, ''),
    )
}

/** The name of a field as it is compared: `Invoice Number`, `invoice_number` and `invoiceNumber` are one field. */
export function fieldKeyOf(name: string): string {
  return normaliseText(name).replaceAll(' ', '')
}
