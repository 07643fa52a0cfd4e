// Former versions of documents, which programs here replaced or deleted and undo has kept: the list of them, and those that
// `docmount restore` asks for.

import { ErrnoError } from '../../errno-error.ts'
import { modifiedAtIn } from '../../content/fingerprint.ts'
import type { Missing } from '../../content/undo/record.ts'
import type { FormerVersion, UndoStore } from '../../content/undo/undo-store.ts'
import { isAtOrUnder } from '../../path.ts'
import type { Former, Restorable, ToRestore } from '../former.ts'

export interface UndoParts {
  readonly undo: UndoStore
  readonly settings: { readonly readOnly: boolean }
}

const reasons: Readonly<Record<Missing, string>> = {
  'not here': 'its bytes were not on this machine',
  'no room': 'the disk of this machine had no room for it',
  'too large': 'it is larger than half of --undo-size',
}

/** Returns the former versions at and under the path, the latest first. */
export async function formerUnder({ undo }: Pick<UndoParts, 'undo'>, path: string): Promise<Former[]> {
  return (await undo.list()).filter((version) => isAtOrUnder(version.path, path)).map(formerOf)
}

/** Returns the version as commands show it. */
function formerOf({ path, how, at, fingerprint, size, missing, isRestored }: FormerVersion): Former {
  const storedAt = modifiedAtIn(fingerprint)
  const why = missing === undefined ? {} : { missing: reasons[missing] }
  return { path, how, at: new Date(at).toISOString(), storedAt, bytes: size, ...why, isRestored }
}

/**
 * Returns the versions to restore: one of the document at the path, or one of each document that was deleted under it. `at` (ISO
 * time): the version that was there then; default: the latest. Throws ENOENT if none is known, ENODATA if the bytes of the document
 * were not kept, EROFS on a read-only drive.
 */
export async function toRestore(
  { undo, settings }: UndoParts,
  path: string,
  at: string | undefined,
): Promise<ToRestore> {
  if (settings.readOnly) throw new ErrnoError('EROFS', 'this drive is read-only')
  // The list begins with the latest. The version that was there at a time is the first one that was replaced or deleted after it.
  const after = at === undefined ? undefined : Date.parse(at)
  const former = (await undo.list()).filter((version) => after === undefined || version.at >= after)
  const ofPath = former.filter((version) => version.path === path)
  const version = after === undefined ? ofPath[0] : ofPath.at(-1)
  const restorable = (one: FormerVersion): Restorable => ({
    id: one.id,
    path: one.path,
    bytes: one.size ?? 0,
    why: one.missing === undefined ? undefined : reasons[one.missing],
    read: () => undo.read(one),
  })
  if (version === undefined)
    return { isFolder: true, versions: deletedUnder(former, path, after).map(restorable) }
  const found = restorable(version)
  if (found.why !== undefined) throw new ErrnoError('ENODATA', `${path} cannot be brought back: ${found.why}`)
  return { isFolder: false, versions: [found] }
}

/** Returns of each document in the folder the version that was deleted last, or first after a time. Throws ENOENT if there is none. */
function deletedUnder(
  former: readonly FormerVersion[],
  folder: string,
  after: number | undefined,
): FormerVersion[] {
  const found = new Map<string, FormerVersion>()
  for (const version of former) {
    if (version.how !== 'deleted' || version.isRestored || !isAtOrUnder(version.path, folder)) continue
    if (after !== undefined || !found.has(version.path)) found.set(version.path, version)
  }
  if (found.size === 0) throw new ErrnoError('ENOENT', `no former version of ${folder} is known here`)
  return [...found.values()]
}
