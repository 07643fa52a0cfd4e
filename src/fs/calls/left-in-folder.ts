// Documents left in a folder that is to be removed, by what the service has and what was deleted here. A folder below
// it is looked into: the service's delete takes all that is in it.

import type { Files, FolderListing, RemoteFile } from '../../api/types.ts'
import { fingerprintOf, isNewer, mayBe, modifiedAtIn } from '../../content/fingerprint.ts'
import type { Job } from '../../content/commit/job.ts'
import { mayMeanMissing } from '../../content/remote-lookup.ts'
import type { SyncedPath } from '../../ledger/view.ts'

/** Each call that removing a folder makes. */
export const callDeadlineMs = 14_000

type Rows = ReadonlyMap<string, SyncedPath>
type Asked = (path: string) => Promise<RemoteFile | FolderListing | undefined>

/** Documents deleted here. */
interface Going {
  readonly hidden: Rows
  /** Deletes that go with the folder. */
  readonly untried: readonly Job[]
}

/** True if the folder holds more than what was deleted here. */
export async function isAnyLeft(
  files: Files,
  path: string,
  going: Going,
  standing: FolderListing | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  const asked = (at: string): Promise<RemoteFile | FolderListing | undefined> => ask(files, at, signal)
  for (const entry of standing?.entries ?? []) {
    const isSeenLeaving = entry.kind === 'file' && isLeaving(entry, going.hidden)
    if (!isSeenLeaving && !(await isGone(asked, `${path}/${entry.name}`, entry.name, going))) return true
  }
  return false
}

/** A listing that lags behind, or tells less than is known, cannot say which version it shows: what is there itself is asked. */
async function isGone(asked: Asked, path: string, name: string, going: Going): Promise<boolean> {
  const row = going.hidden.get(name)
  if (row === undefined) return false
  const found = await asked(path)
  if (found === undefined) return true
  if (found.kind === 'file') return isLeaving(found, going.hidden)
  // A folder that was removed or moved away here: what another client has stored in one of its name since stays.
  return row.highest === undefined && !(await holdsDocuments(asked, path, found, going))
}

/** True if the folder holds a document, at any depth, that is not about to be deleted. */
async function holdsDocuments(
  asked: Asked,
  folder: string,
  { entries }: FolderListing,
  going: Going,
): Promise<boolean> {
  for (const { name } of entries) {
    const path = `${folder}/${name}`
    const found = await asked(path)
    if (found === undefined) continue
    if (
      found.kind === 'folder' ? await holdsDocuments(asked, path, found, going) : !isToGo(path, found, going)
    )
      return true
  }
  return false
}

function isToGo(path: string, found: RemoteFile, { untried }: Going): boolean {
  const base = untried.find(({ intention }) => intention.path === path)?.intention.base
  return base !== undefined && mayBe(found, base)
}

/** Undefined where nothing is: a listing that lags behind is not asked whether it agrees. */
async function ask(
  files: Files,
  path: string,
  signal: AbortSignal,
): Promise<RemoteFile | FolderListing | undefined> {
  try {
    return await files.get(path, { deadlineMs: callDeadlineMs, signal })
  } catch (error) {
    if (mayMeanMissing(error)) return undefined
    throw error
  }
}

/** Deleted here, and still shown as it was, or as it was even before: by a listing that lags behind. */
function isLeaving(file: RemoteFile, hidden: Rows): boolean {
  const highest = hidden.get(file.name)?.highest
  if (highest === undefined) return false
  return (
    fingerprintOf(file) === highest || isNewer({ modifiedAt: modifiedAtIn(highest) }, fingerprintOf(file))
  )
}
