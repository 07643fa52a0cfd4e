// A change that the service has agreed to is in no journal any more, and in no listing yet: it is noted beside the saved
// listings, so that it is shown after a restart without the service, too. The note is made before the journal's transaction
// ends: a kill in between leaves both, and a note whose transaction fails is true all the same.

import type { RemoteFile } from '../../api/types.ts'
import type { Intention } from '../../content/intention.ts'
import type { Change, SavedListings } from '../../content/spool/saved-listings.ts'
import { folderOf, foldersAbove, nameOf } from '../../path.ts'
import type { Node } from '../tree/node.ts'

export interface RememberParts {
  readonly saved: Pick<SavedListings, 'began' | 'agreed' | 'gone'>
}

/** Notes an intention that is done. `record`: of the document it stored. A `prune` has removed a folder without documents. */
export function remember(
  { saved }: RememberParts,
  { kind, path, source, keepSource }: Intention,
  record: RemoteFile | undefined,
): void {
  if (kind === 'prune') return saved.gone(path)
  if (kind === 'delete') return saved.agreed([at(path, undefined)])
  const changes: Change[] = []
  if (record !== undefined) {
    // The folders exist again: a service that keeps no empty folders had removed them with their last document.
    changes.push(at(path, record), ...foldersAbove(path).map(standing))
  }
  if (source !== undefined && keepSource !== true) changes.push(at(source, undefined))
  saved.agreed(changes)
}

/** Notes that the service has a folder that was made here. */
export function rememberFolder({ saved }: RememberParts, { path }: Node): void {
  saved.began(path)
  saved.agreed([standing(path)])
}

/** Returns the note that the service has this folder. */
function standing(path: string): Change {
  return at(path, { kind: 'folder', name: nameOf(path) })
}

function at(path: string, record: Change['record']): Change {
  return { folder: folderOf(path), name: nameOf(path), record }
}
