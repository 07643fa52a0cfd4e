// What the service has agreed to is in no journal any more, and in no listing yet: it is noted beside the saved listings, so that it
// is there without the service, too, after a restart.

import type { RemoteFile } from '../../api/types.ts'
import type { Intention } from '../../content/intention.ts'
import type { Journal } from '../../content/spool/journal.ts'
import type { SavedListings } from '../../content/spool/saved-listings.ts'
import { folderOf, foldersAbove, nameOf } from '../../path.ts'
import type { Node } from '../tree/node.ts'

export interface RememberParts {
  readonly journal: Journal
  readonly saved: Pick<SavedListings, 'began' | 'changed' | 'gone'>
}

/** The intention is done; `record`: what it has stored. */
export function remember(
  { journal, saved }: RememberParts,
  { kind, path, source, keepSource }: Intention,
  record: RemoteFile | undefined,
): void {
  const left = (from: string): void => saved.changed(folderOf(from), nameOf(from), undefined)
  journal.afterCommit(() => {
    if (kind === 'prune') return saved.gone(path)
    if (kind === 'delete') return left(path)
    if (record !== undefined) {
      saved.changed(folderOf(path), nameOf(path), record)
      // A service may keep no empty folders: they were gone with what stood there before.
      for (const folder of foldersAbove(path)) stands(saved, folder)
    }
    if (source !== undefined && keepSource !== true) left(source)
  })
}

/** The folder was made here, and the service has it now. */
export function rememberFolder({ journal, saved }: RememberParts, { path }: Node): void {
  journal.afterCommit(() => {
    saved.began(path)
    stands(saved, path)
  })
}

/** The service has this folder. */
function stands(saved: RememberParts['saved'], path: string): void {
  const name = nameOf(path)
  saved.changed(folderOf(path), name, { kind: 'folder', name })
}
