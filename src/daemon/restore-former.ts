// `docmount restore`: brings back versions that were replaced or deleted, from the undo store. Each is saved as programs save: into
// a new file, which is then renamed to the document's name. So a version that stands there now is kept for undo in its turn.

import { ErrnoError } from '../errno-error.ts'
import type { Restorable, RestoreAnswer, RestoreRequest } from '../fs/former.ts'
import { folderOf, nameOf } from '../path.ts'
import { unfinishedName, type PathWalk, type Resource } from '../webdav/path-walk.ts'
import { asProgram, type AsProgramParts } from './as-program.ts'

/**
 * Brings a document back, or all that was deleted under a folder, where nothing has its name. Throws ENOENT where nothing is known of
 * the path, ENODATA where its bytes were not kept, EROFS on a read-only drive, and what saving throws.
 */
export async function restoreFormer(
  parts: AsProgramParts,
  { path, at, to = path }: RestoreRequest,
  signal: AbortSignal,
): Promise<RestoreAnswer> {
  const { fileSystem } = parts
  const { isFolder, versions } = await fileSystem.toRestore(path, at)
  const restored: RestoreAnswer['restored'][number][] = []
  const ids: string[] = []
  const left: { path: string; why: string }[] = []
  const [top, into] = [path, to].map((folder) => (folder === '/' ? '' : folder)) as [string, string]
  await asProgram(parts, async (walk) => {
    try {
      for (const version of versions) {
        signal.throwIfAborted()
        const place = into + version.path.slice(top.length)
        const why = isFolder ? await tryToSave(walk, version, place) : await save(walk, version, place)
        if (why !== undefined) left.push({ path: version.path, why })
        else {
          restored.push({ path: place, from: version.path, bytes: version.bytes })
          ids.push(version.id)
        }
      }
    } finally {
      if (ids.length > 0) await fileSystem.restored(ids)
    }
  })
  return { restored, left }
}

/** Saves the version unless its bytes are missing or something has its name. Returns the reason why not; undefined if it is back. */
async function tryToSave(walk: PathWalk, version: Restorable, path: string): Promise<string | undefined> {
  if (version.why !== undefined) return version.why
  try {
    if ((await walk.find(namesOf(path))) !== undefined) return 'something else has its name'
    await save(walk, version, path)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

async function save(walk: PathWalk, version: Restorable, path: string): Promise<undefined> {
  const { operations, changeCaller } = walk
  const parent = await folderAt(walk, namesOf(folderOf(path)))
  const folder = parent.attributes.ino
  const beside = { parent, name: unfinishedName() }
  const opened = await walk.create(beside, 0o644)
  let isNamed = false
  try {
    let offset = 0
    for await (const bytes of version.read())
      for (let done = 0; done < bytes.length;) {
        const written = await operations.write(opened.fh, offset, bytes.subarray(done), changeCaller)
        done += written
        offset += written
      }
    await operations.flush(opened.fh, changeCaller)
    const flags = { noReplace: false, exchange: false }
    await operations.rename(folder, beside.name, folder, nameOf(path), flags, changeCaller)
    isNamed = true
  } finally {
    if (isNamed) await operations.release(opened.fh)
    else await walk.undoCreate(beside, opened)
  }
}

/** The folder, which is made where it is missing. Throws ENOTDIR. */
async function folderAt(walk: PathWalk, names: readonly string[]): Promise<Resource> {
  const found = await walk.find(names)
  if (found?.attributes.kind === 'file') throw new ErrnoError('ENOTDIR', `${names.join('/')} is a document`)
  if (found !== undefined) return found
  const parent = await folderAt(walk, names.slice(0, -1))
  const name = names.at(-1) ?? ''
  const { attributes } = await walk.operations.mkdir(parent.attributes.ino, name, 0o755, walk.changeCaller)
  walk.holdNode(attributes.ino)
  return { names: [...parent.names, name], attributes }
}

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '')
}
