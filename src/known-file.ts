// Check that an open file is still the one at its path. If its folder was removed, moved or replaced meanwhile, bytes
// written to the open file would be acknowledged, and found by nobody after a restart.

import { statSync } from 'node:fs'

/** A file's path and identity. Plain data, so that it can be sent to worker threads. */
export interface KnownFile {
  readonly path: string
  readonly device: number
  readonly inode: number
}

/** Returns the identity of the file at `path`. Throws the system's error where there is none. */
export function knownFile(path: string): KnownFile {
  const { dev, ino } = statSync(path)
  return { path, device: dev, inode: ino }
}

/** True if the file is still the one at its path. */
export function isInPlace(file: KnownFile): boolean {
  return bytesInPlace(file) !== undefined
}

/** Returns the file's size in bytes; undefined if its path is empty or another file is there. Throws other errors of stat. */
export function bytesInPlace({ path, device, inode }: KnownFile): number | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  return found?.dev === device && found.ino === inode ? found.size : undefined
}
