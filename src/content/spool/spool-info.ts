// A note on one content that the service may not have: the path for which it was saved, and its digest. Written as JSON: by
// known-contents.ts for the spool, and into a file beside the content in lost+found (in older versions, also in the spool). It
// is no header of the content, since the cache takes over the file as it is, and no attribute, as not every disk has these.

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
    // Ignored: on a full disk the content itself matters more.
  }
}

/** Reads the note beside a file; undefined where there is none, or it is not valid. */
export function readSpoolInfo(file: string, disk: Disk): SpoolInfo | undefined {
  try {
    return infoIn(parseJson(disk.readFileSync(file + spoolInfoSuffix, 'utf8')))
  } catch {
    return undefined
  }
}

/** Validates a note; undefined where it is not valid. */
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
    // Ignored: it was never written, or the next start removes it.
  }
}
