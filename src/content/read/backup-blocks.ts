// Names under which the cache keeps a version that is about to be replaced: readers of its path do not find it any more, and it
// can be stored again, also after a restart, for as long as the cache keeps it.

import type { Version } from '../fingerprint.ts'

/** The version under its backup name. */
export function backupOf(version: Version): Version {
  return { ...version, path: backupPathOf(version.path) }
}

/** A path that no document can have. */
export function backupPathOf(path: string): string {
  return `${path}\0`
}
