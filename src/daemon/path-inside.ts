// Paths compared as text: nothing is touched, which a wedged mount would answer by hanging.

import { sep } from 'node:path'

/** True when `path` is `folder` or lies below it. */
export function isAtOrUnder(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}
