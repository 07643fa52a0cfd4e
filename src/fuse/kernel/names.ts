// Names as the kernel sends them: bytes up to a NUL. A name is valid UTF-8 of at most 255 bytes, or it is refused:
// two names must never become one (as they would through U+FFFD).

import { Refusal } from '../refusal.ts'

/** Bytes; the kernel itself lets names of up to 1024 through. */
export const nameMax = 255

const replacement = '\u{FFFD}'

/** Where the name that starts at `start` ends: the position of its NUL. */
export function endOfName(bytes: Buffer, start: number, end: number): number {
  const nul = bytes.indexOf(0, start)
  return nul < 0 || nul > end ? end : nul
}

/** Decodes the name in `bytes[start, end)`. Throws ENAMETOOLONG, and `invalid` when it is not UTF-8. */
export function decodeName(bytes: Buffer, start: number, end: number, invalid: 'EILSEQ' | 'ENOENT'): string {
  if (end - start > nameMax) throw new Refusal('ENAMETOOLONG', `a name of ${end - start} bytes`)
  const name = bytes.toString('utf8', start, end)
  // The replacement character may also be a true part of the name: then encoding it again gives the same bytes.
  if (name.includes(replacement) && Buffer.from(name).compare(bytes, start, end) !== 0) {
    throw new Refusal(invalid, 'a name that is not UTF-8')
  }
  return name
}
