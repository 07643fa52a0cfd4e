// A change that the service has agreed to is in no journal any more, and in no listing yet: it is noted beside the saved
// listings, with its time, so that it is shown after a restart, too, without the service and by listings that lag. The note is made
// before the journal's transaction ends: a kill in between leaves both, and a note whose transaction fails is true all the same.

import type { RemoteFile } from '../../api/types.ts'
import type { Intention } from '../../content/intention.ts'
import type { Change, SavedListings } from '../../content/spool/saved-listings.ts'
import { folderOf, foldersAbove, nameOf } from '../../path.ts'
import type { SyncedPaths } from '../../ledger/synced-paths.ts'
import type { Clock } from '../../world/clock.ts'
import type { Node } from '../tree/node.ts'

export interface RememberParts {
  readonly saved: Pick<SavedListings, 'began' | 'agreed' | 'gone'>
  readonly tree: { readonly synced: Pick<SyncedPaths, 'at'> }
  readonly clock: Pick<Clock, 'wall'>
}

/** Notes an intention that is done. `record`: of the document it stored. A `prune` has removed a folder without documents. */
export function remember(
  parts: RememberParts,
  { kind, path, base, source, sourceFingerprint, keepSource }: Intention,
  record: RemoteFile | undefined,
): void {
  const { saved, clock } = parts
  if (kind === 'prune') return saved.gone(path, clock.wall())
  if (kind === 'delete') return saved.agreed([left(parts, path, base)])
  const changes: Change[] = []
  if (record !== undefined) {
    // The folders exist again: a service that keeps no empty folders had removed them with their last document.
    const folders = foldersAbove(path).map((folder) => standing(parts, folder))
    changes.push(at(parts, path, record), ...folders)
  }
  if (source !== undefined && keepSource !== true) changes.push(left(parts, source, sourceFingerprint))
  saved.agreed(changes)
}

/** Notes that the service has a folder that was made here. */
export function rememberFolder(parts: RememberParts, { path }: Node): void {
  parts.saved.began(path)
  parts.saved.agreed([standing(parts, path)])
}

/** Returns the note that the service has this folder. */
function standing(parts: RememberParts, path: string): Change {
  return at(parts, path, { kind: 'folder', name: nameOf(path) })
}

/** Returns the note that the service has nothing there. `fingerprint`: of the version that went, unless a newer one is known. */
function left(parts: RememberParts, path: string, fingerprint: string | undefined): Change {
  return at(parts, path, undefined, parts.tree.synced.at(path)?.highest ?? fingerprint)
}

function at({ clock }: RememberParts, path: string, record: Change['record'], highest?: string): Change {
  return { folder: folderOf(path), name: nameOf(path), record, agreed: { at: clock.wall(), highest } }
}
