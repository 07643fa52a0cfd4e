// Comparison of an open file with the one at its path. A folder that is removed, moved or replaced under a running
// program leaves it with files nobody finds again: bytes written there would be acknowledged, and lost.

import { statSync } from 'node:fs'

/** Travels to other threads as it is. */
export interface KnownFile {
  readonly path: string
  readonly device: number
  readonly inode: number
}

/** Throws the system's error when there is no such file. */
export function knownFile(path: string): KnownFile {
  const { dev, ino } = statSync(path)
  return { path, device: dev, inode: ino }
}

export function isInPlace(file: KnownFile): boolean {
  return bytesInPlace(file) !== undefined
}

/** How long it is by now (bytes); undefined where it is not the one at its path. Throws where nobody may look. */
export function bytesInPlace({ path, device, inode }: KnownFile): number | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  return found?.dev === device && found.ino === inode ? found.size : undefined
}
