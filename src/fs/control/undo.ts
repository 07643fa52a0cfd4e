// Versions that programs here replaced or deleted: which are known, and how one comes back. It is saved as any program saves, so
// that what stands there meanwhile is kept in its turn.

import { ErrnoError } from '../../errno-error.ts'
import { modifiedAtIn } from '../../content/fingerprint.ts'
import type { Missing } from '../../content/undo/record.ts'
import type { FormerVersion, UndoStore } from '../../content/undo/undo-store.ts'
import { folderOf, isAtOrUnder, nameOf } from '../../path.ts'
import type { Chance } from '../../world/chance.ts'
import type { Owner } from '../tree/attributes.ts'
import { nodeAt } from '../tree/node-at.ts'
import type { Tree } from '../tree/tree.ts'
import type { Former, RestoreAnswer, RestoreRequest } from '../former.ts'
import { rootIno, type Caller, type Entry, type Operations } from '../operations.ts'

export interface UndoParts {
  readonly undo: UndoStore
  readonly tree: Tree
  readonly owner: Owner
  readonly chance: Chance
  readonly settings: { readonly readOnly: boolean }
}

const reasons: Readonly<Record<Missing, string>> = {
  'not here': 'its bytes were not on this machine',
  'no room': 'the disk of this machine had no room for it',
  'too large': 'it is larger than half of --undo-size',
}

/** At and under the path, latest first. */
export async function formerUnder({ undo }: Pick<UndoParts, 'undo'>, path: string): Promise<Former[]> {
  return (await undo.list()).filter((version) => isAtOrUnder(version.path, path)).map(told)
}

function told({ path, how, at, fingerprint, size, missing, isRestored }: FormerVersion): Former {
  const storedAt = modifiedAtIn(fingerprint)
  const why = missing === undefined ? {} : { missing: reasons[missing] }
  return { path, how, at: new Date(at).toISOString(), storedAt, bytes: size, ...why, isRestored }
}

/**
 * Brings a document back, or all that was deleted under a folder. Throws ENOENT where nothing is known of the path, ENODATA where its
 * bytes were not kept, EROFS on a read-only drive, and what saving throws.
 */
export async function restore(
  parts: UndoParts,
  operations: Operations,
  { path, at, to = path }: RestoreRequest,
  signal: AbortSignal,
): Promise<RestoreAnswer> {
  if (parts.settings.readOnly) throw new ErrnoError('EROFS', 'this drive is read-only')
  const after = at === undefined ? undefined : Date.parse(at)
  const went = (await parts.undo.list()).filter((version) => after === undefined || version.at >= after)
  const ofPath = went.filter((version) => version.path === path)
  const version = after === undefined ? ofPath[0] : ofPath.at(-1)
  const saving = new Saving(parts, operations, signal)
  try {
    if (version === undefined)
      return await restoreUnder(parts, saving, deletedUnder(went, path, after), { path, to })
    const why = whyNot(version)
    if (why !== undefined) throw new ErrnoError('ENODATA', `${path} cannot be brought back: ${why}`)
    await saving.save(version, to)
    await parts.undo.restored([version.id])
    return { restored: [{ path: to, from: path, bytes: version.size ?? 0 }], left: [] }
  } finally {
    saving.end()
  }
}

function whyNot({ missing }: FormerVersion): string | undefined {
  return missing === undefined ? undefined : reasons[missing]
}

/** Of each document under the folder the version that went last, or first after a time. Throws ENOENT where there is none. */
function deletedUnder(
  went: readonly FormerVersion[],
  folder: string,
  after: number | undefined,
): Iterable<FormerVersion> {
  const found = new Map<string, FormerVersion>()
  for (const version of went) {
    if (version.how !== 'deleted' || version.isRestored || !isAtOrUnder(version.path, folder)) continue
    if (after !== undefined || !found.has(version.path)) found.set(version.path, version)
  }
  if (found.size === 0) throw new ErrnoError('ENOENT', `no former version of ${folder} is known here`)
  return found.values()
}

async function restoreUnder(
  { undo, tree }: UndoParts,
  saving: Saving,
  versions: Iterable<FormerVersion>,
  { path, to }: { path: string; to: string },
): Promise<RestoreAnswer> {
  const restored: RestoreAnswer['restored'][number][] = []
  const left: RestoreAnswer['left'][number][] = []
  const ids: string[] = []
  const into = to === '/' ? '' : to
  for (const version of versions) {
    const place = into + version.path.slice(path === '/' ? 0 : path.length)
    const isTaken = (await nodeAt(tree, place)) !== undefined
    const why = isTaken
      ? 'something else has its name'
      : (whyNot(version) ?? (await saving.trySave(version, place)))
    if (why !== undefined) {
      left.push({ path: version.path, why })
      continue
    }
    restored.push({ path: place, from: version.path, bytes: version.size ?? 0 })
    ids.push(version.id)
  }
  await undo.restored(ids)
  return { restored, left }
}

/** Saves documents as a program that writes beside and renames over. */
class Saving {
  readonly #parts: UndoParts
  readonly #operations: Operations
  readonly #caller: Caller
  /** References taken by looking folders up. */
  readonly #folders: number[] = []

  constructor(parts: UndoParts, operations: Operations, signal: AbortSignal) {
    this.#parts = parts
    this.#operations = operations
    const { uid, gid } = parts.owner
    this.#caller = { uid, gid, pid: process.pid, program: 'docmount restore', signal }
  }

  /** Answers why it could not be. */
  async trySave(version: FormerVersion, path: string): Promise<string | undefined> {
    return this.save(version, path).then(
      () => undefined,
      (error: unknown) => (error as Error).message,
    )
  }

  async save(version: FormerVersion, path: string): Promise<void> {
    const operations = this.#operations
    const caller = this.#caller
    const name = nameOf(path)
    const parent = await this.#folder(folderOf(path))
    const beside = `.goutputstream-${this.#parts.chance.uuid().replaceAll('-', '')}`
    const flags = { read: false, write: true, truncate: false }
    const how = { mode: 0o644, flags, exclusive: true }
    const { entry, opened } = await operations.create(parent, beside, how, caller)
    const { ino } = entry.attributes
    let isNamed = false
    try {
      let offset = 0
      for await (const bytes of this.#parts.undo.read(version))
        offset += await operations.write(opened.fh, offset, bytes, caller)
      await operations.flush(opened.fh, caller)
      await operations.rename(parent, beside, parent, name, { noReplace: false, exchange: false }, caller)
      isNamed = true
    } finally {
      await operations.release(opened.fh)
      if (!isNamed) await operations.unlink(parent, beside, caller)
      operations.forget(ino, 1)
      this.#parts.tree.notifier.entryChanged(parent, name)
    }
  }

  end(): void {
    for (const ino of this.#folders) this.#operations.forget(ino, 1)
  }

  /** The number of a folder, which is made where it is missing. */
  async #folder(path: string): Promise<number> {
    let ino = rootIno
    for (const name of path.split('/')) {
      if (name === '') continue
      const found = await this.#operations.lookup(ino, name, this.#caller)
      const { attributes } = found.attributes === undefined ? await this.#make(ino, name) : found
      this.#folders.push(attributes.ino)
      if (attributes.kind === 'file') throw new ErrnoError('ENOTDIR', `${name} is a document`)
      ino = attributes.ino
    }
    return ino
  }

  async #make(parent: number, name: string): Promise<Entry> {
    const made = await this.#operations.mkdir(parent, name, 0o755, this.#caller)
    this.#parts.tree.notifier.entryChanged(parent, name)
    return made
  }
}
