// What is known of a spool file, for when the journal is not there to tell: a small JSON file beside it. Not a header,
// since the cache takes the file over as it is, and not an attribute, which not every disk has. Nothing depends on it
// while the journal is well, so it is not synced by itself and may fail to be written.

import type { Disk } from '../../world/disk.ts'
import type { Digest } from '../digest.ts'

export const spoolInfoSuffix = '.json'

export interface SpoolInfo extends Partial<Digest> {
  /** Absolute path in the project that the content was saved for. */
  readonly path: string
}

export function writeSpoolInfo(file: string, info: SpoolInfo, disk: Disk): void {
  try {
    disk.writeFileSync(file + spoolInfoSuffix, `${JSON.stringify(info)}\n`, { mode: 0o600 })
  } catch {
    // On a full disk the content itself is worth more.
  }
}

/** Undefined where nothing is known, or what is there cannot be understood. */
export function readSpoolInfo(file: string, disk: Disk): SpoolInfo | undefined {
  try {
    const { path, size, sha256 } = JSON.parse(disk.readFileSync(file + spoolInfoSuffix, 'utf8')) as Record<
      string,
      unknown
    >
    if (typeof path !== 'string') return undefined
    return typeof size === 'number' && typeof sha256 === 'string' ? { path, size, sha256 } : { path }
  } catch {
    return undefined
  }
}

export function removeSpoolInfo(file: string, disk: Disk): void {
  try {
    disk.unlinkSync(file + spoolInfoSuffix)
  } catch {
    // It was never written, or goes with the next start.
  }
}
