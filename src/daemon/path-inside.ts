// Comparison of paths as text: access to a mount that hangs would hang, too.

import { sep } from 'node:path'

/** True when `path` is `folder` or lies below it. */
export function isAtOrUnder(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}
