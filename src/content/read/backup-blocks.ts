// A version that is about to be replaced lies aside: nobody finds it at its path any more, and it can be put back from here,
// also after a restart, for as long as the cache keeps it.

import type { Version } from '../fingerprint.ts'

/** The version by the name it has meanwhile. */
export function backupOf(version: Version): Version {
  return { ...version, path: backupPathOf(version.path) }
}

/** No document has it. */
export function backupPathOf(path: string): string {
  return `${path}\0`
}
