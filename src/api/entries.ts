// The entries of a listing. An invalid entry does not fail the listing: one without a usable name or kind is left out and
// counted, and an invalid field counts as absent.

import type { Timers } from '../world/clock.ts'
import { fileOf, isOddFile } from './file-fields.ts'
import type { FolderListing, RemoteFile, RemoteFolder } from './types.ts'

/** Entries converted per turn of the event loop: a folder of 100,000 must not block it. */
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
    // Counted before entries are skipped: a folder of invalid entries takes as long.
    if (++count % entriesAtOnce === 0) await new Promise<void>((resolve) => timers.setImmediate(resolve))
    const found = entryFromWire(value)
    // The second of two entries with one name is left out: it could not be reached.
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

/** True for a name that can be one segment of a path and is valid Unicode. */
function isSegment(name: string): boolean {
  if (name === '' || name === '.' || name === '..') return false
  return !/[/\0\p{Surrogate}]/u.test(name)
}
