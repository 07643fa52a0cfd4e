// A change that the service has agreed to is in no journal any more, and in no listing yet: it is noted beside the
// saved listings, so that it is there without the service, too, after a restart. Noted before the journal's transaction ends: a
// kill in between leaves both, and where that fails it is true all the same.

import type { RemoteFile } from '../../api/types.ts'
import type { Intention } from '../../content/intention.ts'
import type { Change, SavedListings } from '../../content/spool/saved-listings.ts'
import { folderOf, foldersAbove, nameOf } from '../../path.ts'
import type { Node } from '../tree/node.ts'

export interface RememberParts {
  readonly saved: Pick<SavedListings, 'began' | 'agreed' | 'gone'>
}

/** The intention is done; `record`: what it has stored. */
export function remember(
  { saved }: RememberParts,
  { kind, path, source, keepSource }: Intention,
  record: RemoteFile | undefined,
): void {
  if (kind === 'prune') return saved.gone(path)
  if (kind === 'delete') return saved.agreed([at(path, undefined)])
  const changes: Change[] = []
  if (record !== undefined) {
    // A service may keep no empty folders: they were gone with what stood there before.
    changes.push(at(path, record), ...foldersAbove(path).map(standing))
  }
  if (source !== undefined && keepSource !== true) changes.push(at(source, undefined))
  saved.agreed(changes)
}

/** The folder was made here, and the service has it now. */
export function rememberFolder({ saved }: RememberParts, { path }: Node): void {
  saved.began(path)
  saved.agreed([standing(path)])
}

/** The service has this folder. */
function standing(path: string): Change {
  return at(path, { kind: 'folder', name: nameOf(path) })
}

function at(path: string, record: Change['record']): Change {
  return { folder: folderOf(path), name: nameOf(path), record }
}
