// The one place where an errno's name becomes this platform's number.

import { constants } from 'node:os'

const numbers: Readonly<Record<string, number>> = constants.errno

/** `ENOENT` → 2. A name this platform does not have is EIO. */
export function errnoNumber(name: string): number {
  return numbers[name] ?? constants.errno.EIO
}
