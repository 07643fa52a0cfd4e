// Deletes what was just looked at in the service, and nothing that another client stores there while that is attempted.

import type { Files, FolderListing, RemoteFile } from '../api/types.ts'
import { fingerprintOf, mayBe } from '../content/fingerprint.ts'
import { deleteLooking } from '../content/remote-delete.ts'
import { DaemonError } from '../daemon/daemon-error.ts'
import { systemChance } from '../world/chance.ts'
import { createClock } from '../world/clock.ts'

const deadlineMs = 30_000

/** Throws ApiError, NetworkError, DaemonError where an attempt failed and something else stands there now. */
export async function deleteSeen(
  files: Files,
  path: string,
  seen: RemoteFile | FolderListing,
  signal: AbortSignal,
): Promise<void> {
  const isToGo = (standing: RemoteFile | FolderListing): boolean => {
    if (isNoMoreThan(standing, seen)) return true
    throw new DaemonError(
      `${path}: whether it was deleted is not known, and what is there now is another client's: it stays`,
    )
  }
  await deleteLooking({ files, path, clock: createClock(), chance: systemChance, deadlineMs, signal, isToGo })
}

/** Of a folder's folders only the names are known. */
function isNoMoreThan(standing: RemoteFile | FolderListing, seen: RemoteFile | FolderListing): boolean {
  if (standing.kind === 'file') return seen.kind === 'file' && mayBe(standing, fingerprintOf(seen))
  if (seen.kind === 'file') return false
  const entries = new Map(seen.entries.map((entry) => [entry.name, entry]))
  return standing.entries.every((entry) => {
    const before = entries.get(entry.name)
    if (before === undefined || entry.kind === 'folder') return before?.kind === entry.kind
    return before.kind === 'file' && mayBe(entry, fingerprintOf(before))
  })
}
