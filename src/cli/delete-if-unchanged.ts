// Deletes a document or folder in the service, but nothing that another client stores at its path meanwhile.

import type { Files, FolderListing, RemoteFile } from '../api/types.ts'
import { fingerprintOf, mayBe } from '../content/fingerprint.ts'
import { deleteLooking } from '../content/remote-delete.ts'
import { CommandError } from './command-error.ts'
import { systemChance } from '../world/chance.ts'
import { createClock } from '../world/clock.ts'

const deadlineMs = 30_000

/** Deletes what was `seen` at `path`. Throws ApiError, NetworkError; CommandError if the outcome is unknown, and the path has changed. */
export async function deleteIfUnchanged(
  files: Files,
  path: string,
  seen: RemoteFile | FolderListing,
  signal: AbortSignal,
): Promise<void> {
  /** Decides before another attempt, after one whose outcome is unknown, if what is there now may be deleted, too. */
  const isToGo = (current: RemoteFile | FolderListing): boolean => {
    if (isSameOrLess(current, seen)) return true
    throw new CommandError(
      `${path}: whether it was deleted is not known, and what is there now is another client's: it stays`,
    )
  }
  await deleteLooking({ files, path, clock: createClock(), chance: systemChance, deadlineMs, signal, isToGo })
}

/** True if all of `current` was in `seen`; an attempt may have deleted the rest. Folders in a folder are compared by name only. */
function isSameOrLess(current: RemoteFile | FolderListing, seen: RemoteFile | FolderListing): boolean {
  if (current.kind === 'file') return seen.kind === 'file' && mayBe(current, fingerprintOf(seen))
  if (seen.kind === 'file') return false
  const entries = new Map(seen.entries.map((entry) => [entry.name, entry]))
  return current.entries.every((entry) => {
    const before = entries.get(entry.name)
    if (before === undefined || entry.kind === 'folder') return before?.kind === entry.kind
    return before.kind === 'file' && mayBe(entry, fingerprintOf(before))
  })
}
