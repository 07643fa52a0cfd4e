// The spool: local content that the service does not have yet, one file each, in the state folder. It is on disk before a program
// is told that it is saved: by its own sync, or, if it is small, as a row of the journal, whose sync then covers content and
// intention. Never in a cache folder, which cleaners empty. Notes on the contents are kept beside them (known-contents.ts).
//
// A save calls `secure` (the slow part, outside a transaction), then `journal` in the transaction of its intention.

import { copyByReference, type Disk } from '../../world/disk.ts'
import type { Chance } from '../../world/chance.ts'
import type { World } from '../../world/world.ts'
import { join } from 'node:path'
import { ErrnoError } from '../../errno-error.ts'
import { GroupSync } from './group-sync.ts'
import { KnownContents } from './known-contents.ts'
import { makePrivateFolder } from './private-file.ts'
import { SpoolFile, syncCallBytes, type TakenAway } from './spool-file.ts'
import type { Contents } from './tables/contents.ts'
import { onRollback } from './transaction-steps.ts'
import { spoolInfoSuffix, type SpoolInfo } from './spool-info.ts'

/** Content of at most so many bytes goes into the journal … */
const journaledBytes = 16 * 1024
/** … unless that has so many bytes of content already, because its file never shrinks. */
const allJournaledBytes = 8 * 1024 * 1024

/** Begins the id of a file whose content also exists elsewhere. */
const temporaryPrefix = 'temporary-'

/** True for a file that a start after a crash may simply remove. */
export function isTemporary(id: string): boolean {
  return id.startsWith(temporaryPrefix)
}

/** The journal's table of contents, as far as the spool uses it. */
export type JournaledContents = Pick<Contents, 'get' | 'save' | 'remove' | 'forget'>

export class Spool {
  readonly dir: string
  readonly #files = new Map<string, SpoolFile>()
  readonly #dirSync: GroupSync
  readonly #known: KnownContents
  readonly #journaled: JournaledContents
  readonly #world: Pick<World, 'chance' | 'disk'>
  /** Bytes of content in the journal. */
  #inJournal = 0
  /** Called when the folder, or a file in it, was missing, and was created again. */
  onTakenAway: () => void = () => {}
  readonly #taken: TakenAway = {
    willBeWritten: () => {
      if (this.#world.disk.existsSync(this.dir)) this.onTakenAway()
      else this.#makeFolder()
    },
    bringBack: (file) => this.#bringBack(file),
  }

  /** Creates the folder (mode 0700) where missing. */
  constructor(dir: string, journaled: JournaledContents, world: Pick<World, 'chance' | 'disk'>) {
    this.dir = dir
    this.#journaled = journaled
    this.#world = world
    makePrivateFolder(dir, world.disk)
    this.#dirSync = new GroupSync(() => syncFolder(dir, world.disk))
    this.#known = new KnownContents(dir, world.disk)
  }

  /** Creates an empty file; `name` makes its id readable for people. */
  create(name: string): SpoolFile {
    return this.#opened(newId(name, this.#world.chance), 'wx+')
  }

  /** Creates an empty file for content that also exists elsewhere: a start after a crash removes it. */
  createTemporary(): SpoolFile {
    return this.#opened(`${temporaryPrefix}${this.#world.chance.uuid()}`, 'wx+')
  }

  /** Creates a file with the first `length` bytes of another. It shares blocks with that if the disk can. */
  async copyOf(file: SpoolFile, name: string, length: number): Promise<SpoolFile> {
    if (length === 0) return this.create(name)
    await file.written()
    file.putBack()
    const id = newId(name, this.#world.chance)
    const path = join(this.dir, id)
    try {
      await this.#world.disk.copyFile(file.path, path, copyByReference)
      const copy = this.#opened(id, 'r+')
      if (length < copy.size) await copy.truncate(length)
      return copy
    } catch (error) {
      this.forget(id)
      await this.#world.disk.unlink(path).catch(() => {})
      throw error
    }
  }

  /** Like `copyOf`, but synchronous, for small content. Undefined for other content, or while it is being changed. */
  smallCopyOf(file: SpoolFile, name: string, length: number): SpoolFile | undefined {
    if (length > syncCallBytes || file.isBeingChanged) return undefined
    const copy = this.create(name)
    try {
      const bytes = file.readAll().subarray(0, length)
      const written = bytes.length === 0 ? 0 : copy.write(0, bytes)
      if (written !== length) throw new ErrnoError('ENOSPC', `${copy.path}: the disk took only a part`)
      return copy
    } catch (error) {
      // No caller has the copy yet.
      this.#removeNow(copy.id)
      throw error
    }
  }

  /** Returns the only object for a file, of this run or an earlier one. Throws ENOENT where the file is gone. */
  get(id: string): SpoolFile {
    return this.#files.get(id) ?? this.#opened(id, 'r+')
  }

  /** True where the content exists: in its file, by an open descriptor, or in the journal. */
  has(id: string): boolean {
    const file = this.#files.get(id)
    if (file?.isHeld === true || this.#world.disk.existsSync(join(this.dir, id))) return true
    return file?.journaledBytes !== undefined && this.#journaled.get(id) !== undefined
  }

  /** True where the content is certainly gone. False if the disk cannot be read. */
  isGone(id: string): boolean {
    if (this.has(id)) return false
    try {
      this.#world.disk.statSync(join(this.dir, id))
      return false
    } catch (error) {
      return ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')
    }
  }

  /** Writes files again that others removed, but that are still open or in the journal. Throws the disk's error. */
  restoreFiles(): void {
    for (const file of this.#files.values()) {
      const isRestorable = file.isHeld || file.journaledBytes !== undefined
      // A file that is being written is checked when it is synced.
      if (isRestorable && !file.isBeingChanged) file.putBack()
    }
  }

  #opened(id: string, flags: 'wx+' | 'r+'): SpoolFile {
    const file = new SpoolFile(join(this.dir, id), id, this.#dirSync, this.#world.disk, this.#taken)
    this.#openInFolder(() => file.open(flags), flags === 'wx+')
    this.#files.set(id, file)
    return file
  }

  /** Opens a file; for a new one, creates the folder again if it was removed. */
  #openInFolder(open: () => void, isNew: boolean): void {
    try {
      open()
    } catch (error) {
      if (!isNew || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      this.#makeFolder()
      open()
    }
  }

  #makeFolder(): void {
    makePrivateFolder(this.dir, this.#world.disk)
    this.onTakenAway()
  }

  #bringBack(file: SpoolFile): boolean {
    const bytes = file.journaledBytes === undefined ? undefined : this.#journaled.get(file.id)
    if (bytes === undefined) return false
    if (!this.#world.disk.existsSync(this.dir)) this.#makeFolder()
    this.#world.disk.writeFileSync(file.path, bytes, { mode: 0o600 })
    return true
  }

  /** Forgets a file that was removed, or taken over by the cache. */
  forget(id: string): void {
    const file = this.#files.get(id)
    if (file === undefined) return
    file.idle()
    this.#files.delete(id)
    if (file.journaledBytes !== undefined) this.#journaled.forget(id)
    this.#inJournal -= file.journaledBytes ?? 0
    file.journaledBytes = undefined
    this.#known.delete(id)
  }

  /**
   * Makes the content survive a power cut, unless it is so small that `journal` does that, and computes its digest, unless it
   * is a long sparse file.
   */
  async secure(file: SpoolFile): Promise<void> {
    await file.written()
    const isBig = !isSmall(file) || this.#inJournal > allJournaledBytes
    await Promise.all([isBig ? file.sync() : undefined, file.isMostlyHoles ? undefined : file.learnDigest()])
  }

  /** Makes an intention's content survive a power cut, before it replaces a version. Throws ENOENT where the file is gone. */
  async makeDurable(id: string): Promise<void> {
    const file = this.get(id)
    if (file.journaledBytes === undefined && !file.isSynced) await file.sync()
  }

  /** Writes a note on the content, for the case that its journal row is lost. */
  describe(file: SpoolFile, path: string): void {
    this.#known.set(file.id, { path, ...file.digest })
  }

  /** The note on a content; undefined where there is none. */
  infoOf(id: string): SpoolInfo | undefined {
    return this.#known.get(id)
  }

  /** Completes `secure`, in the transaction that journals the intention for `path`: saves small content in the journal. */
  journal(file: SpoolFile, path: string): void {
    this.describe(file, path)
    this.leaveJournal(file)
    // A file that has grown since `secure` is still being written: its own close secures it.
    if (!isSmall(file) || file.isSynced) return
    this.#journaled.save(file.id, file.readAll())
    this.#setJournaled(file, file.size)
  }

  /** Saves the contents that were in the journal there again, after it was written over by others. */
  journalAgain(): void {
    for (const file of this.#files.values())
      if (file.journaledBytes !== undefined) this.#journaled.save(file.id, file.readAll())
  }

  /** Writes the journal's content into the file, after a crash. */
  restore(id: string, bytes: Uint8Array): void {
    this.#world.disk.writeFileSync(join(this.dir, id), bytes, { mode: 0o600 })
    const file = this.get(id)
    file.journaledBytes = bytes.length
    this.#inJournal += bytes.length
    file.idle()
  }

  /** Removes the content from the journal, because it is on disk itself, or is journaled again. */
  leaveJournal(file: SpoolFile): void {
    if (file.journaledBytes === undefined) return
    this.#journaled.remove(file.id)
    this.#setJournaled(file, undefined)
  }

  /** Notes that the journal has so many bytes of the content; undefined: none. Undone if the transaction is rolled back. */
  #setJournaled(file: SpoolFile, bytes: number | undefined): void {
    const before = file.journaledBytes
    const set = (now: number | undefined): void => {
      this.#inJournal += (now ?? 0) - (file.journaledBytes ?? 0)
      file.journaledBytes = now
    }
    set(bytes)
    onRollback(() => set(before))
  }

  /** Ids of all files. */
  async ids(): Promise<string[]> {
    return (await this.#world.disk.readdir(this.dir)).filter((name) => !name.endsWith(spoolInfoSuffix))
  }

  /** Removes a file. Never throws: one that cannot be deleted is removed at the next start. */
  #removeNow(id: string): void {
    this.forget(id)
    try {
      this.#world.disk.unlinkSync(join(this.dir, id))
    } catch {}
  }

  async remove(id: string): Promise<void> {
    const isShort = (this.#files.get(id)?.size ?? Infinity) <= syncCallBytes
    this.forget(id)
    const path = join(this.dir, id)
    try {
      if (isShort) this.#world.disk.unlinkSync(path)
      else await this.#world.disk.unlink(path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
}

/** Returns an id from a part of the name, with characters that every system allows, and a UUID. */
function newId(name: string, chance: Chance): string {
  return `${name
    .replaceAll(/[^A-Za-z0-9._-]/g, '_')
    .replace(/^\./, '_')
    .slice(0, 60)}-${chance.uuid()}`
}

function isSmall(file: SpoolFile): boolean {
  return file.size <= journaledBytes
}

/** Syncs the names in the folder, without which a new file would not survive a power cut. */
export async function syncFolder(dir: string, disk: Disk): Promise<void> {
  const handle = await disk.open(dir, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
