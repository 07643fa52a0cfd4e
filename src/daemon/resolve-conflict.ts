// `docmount resolve`: ends a conflict by deleting the copy of the other version, or renaming it over the document, as a program
// would. So a kill at any moment leaves both versions, or the result. The document of a copy is found in the list of open
// conflicts, later by the copy's name.

import { originalName } from '../content/commit/conflict.ts'
import type { ConflictCopy } from '../fs/status.ts'
import { folderOf, nameOf, pathBelow } from '../path.ts'
import type { PathWalk } from '../webdav/path-walk.ts'
import { asProgram, type AsProgramParts } from './as-program.ts'
import { DaemonError } from './daemon-error.ts'

/**
 * - `mine`: the copy, which is the other version, is deleted.
 * - `theirs`: the copy replaces the document.
 * - `both`: both stay, and the conflict is listed no longer.
 */
export type Keep = 'mine' | 'theirs' | 'both'

export interface Resolved {
  /** Absolute path in the project. */
  readonly document: string
  readonly copies: readonly string[]
}

/**
 * `path`: a document, which means all its copies, or one copy. Throws DaemonError if there is no conflict, or if `theirs` is asked
 * for and there are several copies; and ErrnoError if the delete or rename fails.
 */
export async function resolveConflict(parts: AsProgramParts, path: string, keep: Keep): Promise<Resolved> {
  const { fileSystem } = parts
  // Lists the folders of the known copies anew: another client may have deleted one.
  await fileSystem.lookAgain()
  const { document, copies } = conflictAt(fileSystem.status().conflictCopies, path)
  if (keep === 'theirs' && copies.length > 1)
    throw new DaemonError(`${path} has several conflict copies; name the one to keep: ${copies.join(', ')}`)
  await asProgram(parts, async (walk) => {
    for (const copy of copies) {
      await checkThere(walk, copy)
      if (keep === 'mine') await checkThere(walk, document)
      if (keep !== 'both') await removeCopy(walk, copy, keep === 'theirs' ? document : undefined)
      fileSystem.conflictResolved(copy)
    }
  })
  return { document, copies }
}

function conflictAt(open: readonly ConflictCopy[], path: string): Resolved {
  const row = open.find(({ copy }) => copy === path)
  if (row !== undefined) return { document: row.path, copies: [path] }
  const copies = open.flatMap((conflict) => (conflict.path === path ? [conflict.copy] : []))
  if (copies.length > 0) return { document: path, copies }
  const name = originalName(nameOf(path))
  if (name === undefined)
    throw new DaemonError(`${path} is neither a conflict copy nor a document that has one`)
  return { document: pathBelow(folderOf(path), name), copies: [path] }
}

async function checkThere(walk: PathWalk, path: string): Promise<void> {
  if ((await walk.find(namesOf(path))) === undefined) throw new DaemonError(`${path} is not there any more`)
}

/** Renames the copy over the document if one is given; otherwise deletes the copy. */
async function removeCopy(walk: PathWalk, copy: string, document: string | undefined): Promise<void> {
  const { operations, changeCaller } = walk
  const from = await walk.placeOf(namesOf(copy))
  const folder = from.parent.attributes.ino
  if (document === undefined) return operations.unlink(folder, from.name, changeCaller)
  const to = await walk.placeOf(namesOf(document))
  const flags = { noReplace: false, exchange: false }
  return operations.rename(folder, from.name, to.parent.attributes.ino, to.name, flags, changeCaller)
}

function namesOf(path: string): string[] {
  return path.slice(1).split('/')
}
