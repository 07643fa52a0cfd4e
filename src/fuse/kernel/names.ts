// Names as the kernel sends them: bytes up to a NUL. A name that is not UTF-8, or has more than 255 bytes, is refused: decoded
// with U+FFFD, two names would become one.

import { Refusal } from '../refusal.ts'

/** Longest name in bytes; the kernel itself passes names of up to 1024. */
export const nameMax = 255

const replacement = '\u{FFFD}'

/** Returns the position of the NUL that ends the name at `start`; `end` if there is none before it. */
export function endOfName(bytes: Buffer, start: number, end: number): number {
  const nul = bytes.indexOf(0, start)
  return nul < 0 || nul > end ? end : nul
}

/** Returns the name in `bytes[start, end)`. Throws ENAMETOOLONG, or `invalid` if it is not UTF-8. */
export function decodeName(bytes: Buffer, start: number, end: number, invalid: 'EILSEQ' | 'ENOENT'): string {
  if (end - start > nameMax) throw new Refusal('ENAMETOOLONG', `a name of ${end - start} bytes`)
  const name = bytes.toString('utf8', start, end)
  // U+FFFD may also be part of the name itself: then encoding it again gives the same bytes.
  if (name.includes(replacement) && Buffer.from(name).compare(bytes, start, end) !== 0) {
    throw new Refusal(invalid, 'a name that is not UTF-8')
  }
  return name
}
