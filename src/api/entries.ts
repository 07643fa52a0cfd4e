// The entries of a folder. One odd entry costs one entry: what cannot be named, or is neither file nor folder, is left out
// and counted; an odd field is repaired.

import type { Timers } from '../world/clock.ts'
import { fileOf, isOddFile } from './file-fields.ts'
import type { FolderListing, RemoteFile, RemoteFolder } from './types.ts'

/** A folder of 100,000 must not hold up everybody else. */
const entriesAtOnce = 5_000

export async function entriesFromWire(
  wireEntries: readonly unknown[],
  timers: Timers,
): Promise<Pick<FolderListing, 'entries' | 'odd'>> {
  const byName = new Map<string, RemoteFile | RemoteFolder>()
  let leftOut = 0
  let repaired = 0
  let count = 0
  for (const value of wireEntries) {
    // Before anything is passed over: a folder of nothing but odd entries is as long.
    if (++count % entriesAtOnce === 0) await new Promise<void>((resolve) => timers.setImmediate(resolve))
    const found = entryFromWire(value)
    // The second of two entries with one name could not be reached.
    if (found === undefined || byName.has(found.entry.name)) {
      leftOut++
      continue
    }
    if (found.isRepaired) repaired++
    byName.set(found.entry.name, found.entry)
  }
  return { entries: [...byName.values()], odd: { leftOut, repaired } }
}

function entryFromWire(
  value: unknown,
): { entry: RemoteFile | RemoteFolder; isRepaired: boolean } | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const fields = value as Record<string, unknown>
  const { name, ftype } = fields
  if (typeof name !== 'string' || !isSegment(name)) return undefined
  if (ftype === 'folder') return { entry: { kind: 'folder', name }, isRepaired: false }
  if (ftype !== 'file') return undefined
  return { entry: fileOf(name, fields), isRepaired: isOddFile(fields) }
}

/** True for a name that can stand between two slashes of a path, and comes back from UTF-8 as it was. */
function isSegment(name: string): boolean {
  if (name === '' || name === '.' || name === '..') return false
  return !/[/\0\p{Surrogate}]/u.test(name)
}
