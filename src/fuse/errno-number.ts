// The number of an errno on this platform.

import { constants } from 'node:os'

const numbers: Readonly<Record<string, number>> = constants.errno

/** Returns the number of an errno, e.g. 2 for `ENOENT`; that of EIO for a name this platform does not have. */
export function errnoNumber(name: string): number {
  return numbers[name] ?? constants.errno.EIO
}
