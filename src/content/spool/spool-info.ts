// Notes on one content that the service may not have: the path it was saved as. Written as JSON: by known-contents.ts for
// what is in the spool, and into a file beside it in lost+found, as it was in the spool of former versions. Not a header
// of the content, since the cache takes its file over as it is, and not an attribute, which not every disk has.

import type { Disk } from '../../world/disk.ts'
import { parseJson } from '../../parse-json.ts'
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
    return infoIn(parseJson(disk.readFileSync(file + spoolInfoSuffix, 'utf8')))
  } catch {
    return undefined
  }
}

/** Undefined where it cannot be understood. */
export function infoIn(value: unknown): SpoolInfo | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { path, size, sha256 } = value as Record<string, unknown>
  if (typeof path !== 'string') return undefined
  return typeof size === 'number' && typeof sha256 === 'string' ? { path, size, sha256 } : { path }
}

export function removeSpoolInfo(file: string, disk: Disk): void {
  try {
    disk.unlinkSync(file + spoolInfoSuffix)
  } catch {
    // It was never written, or goes with the next start.
  }
}
