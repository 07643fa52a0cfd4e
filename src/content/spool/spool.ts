// The spool: local content the service has not got yet, one file each, in the state folder. On disk before anybody is
// told "saved": by a sync of its own, or, where it is small, as a row of the journal, whose one sync then covers content and
// intention. Never in a cache folder, which cleaners empty. Beside them lies what is known of them (known-contents.ts).

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
import { spoolInfoSuffix, type SpoolInfo } from './spool-info.ts'

/** Content up to this many bytes goes into the journal … */
const journaledBytes = 16 * 1024
/** … unless that holds so many bytes already: its file never shrinks. */
const allJournaledBytes = 8 * 1024 * 1024

/** Begins the id of a file that only repeats what is elsewhere. */
const temporaryPrefix = 'temporary-'

/** True for what a start after a crash may remove without asking. */
export function isTemporary(id: string): boolean {
  return id.startsWith(temporaryPrefix)
}

/** Journaled contents, as the spool uses them. */
export type JournaledContents = Pick<Contents, 'get' | 'save' | 'remove' | 'forget' | 'onRollback'>

export class Spool {
  readonly dir: string
  readonly #files = new Map<string, SpoolFile>()
  readonly #dirSync: GroupSync
  readonly #known: KnownContents
  readonly #journaled: JournaledContents
  readonly #world: Pick<World, 'chance' | 'disk'>
  /** Bytes of the files that are in the journal. */
  #inJournal = 0
  /** Told when the folder, or a file in it, was missing, and is there again. */
  onTakenAway: () => void = () => {}
  readonly #taken: TakenAway = {
    willBeWritten: () => {
      if (this.#world.disk.existsSync(this.dir)) this.onTakenAway()
      else this.#makeFolder()
    },
    bringBack: (file) => this.#bringBack(file),
  }

  /** Makes the folder (mode 0700) where missing. */
  constructor(dir: string, journaled: JournaledContents, world: Pick<World, 'chance' | 'disk'>) {
    this.dir = dir
    this.#journaled = journaled
    this.#world = world
    makePrivateFolder(dir, world.disk)
    this.#dirSync = new GroupSync(() => syncFolder(dir, world.disk))
    this.#known = new KnownContents(dir, world.disk)
  }

  /** A new, empty file; `name` is for people who look into the folder. */
  create(name: string): SpoolFile {
    return this.#opened(newId(name, this.#world.chance), 'wx+')
  }

  /** A file that only repeats what is elsewhere: a start after a crash removes it. */
  createTemporary(): SpoolFile {
    return this.#opened(`${temporaryPrefix}${this.#world.chance.uuid()}`, 'wx+')
  }

  /** A file of its own with the first `length` bytes of another, which stays as it is. Shares blocks where the disk can. */
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

  /** `copyOf` for content that is cheaper to copy than to wait for. Undefined where it is not. */
  smallCopyOf(file: SpoolFile, name: string, length: number): SpoolFile | undefined {
    if (length > syncCallBytes || file.isBeingChanged) return undefined
    const copy = this.create(name)
    try {
      const bytes = file.readAll().subarray(0, length)
      const written = bytes.length === 0 ? 0 : copy.write(0, bytes)
      if (written !== length) throw new ErrnoError('ENOSPC', `${copy.path}: the disk took only a part`)
      return copy
    } catch (error) {
      // The copy was given to no caller yet.
      this.#removeNow(copy.id)
      throw error
    }
  }

  /** The one object for a file here, of this run or an earlier one. Throws ENOENT when the file is gone. */
  get(id: string): SpoolFile {
    return this.#files.get(id) ?? this.#opened(id, 'r+')
  }

  /** True where its content is here: in its file, held open, or in the journal. */
  has(id: string): boolean {
    const file = this.#files.get(id)
    if (file?.isHeld === true || this.#world.disk.existsSync(join(this.dir, id))) return true
    return file?.journaledBytes !== undefined && this.#journaled.get(id) !== undefined
  }

  /** True where nothing of it is here, and the disk says so: who cannot look has lost nothing. */
  isGone(id: string): boolean {
    if (this.has(id)) return false
    try {
      this.#world.disk.statSync(join(this.dir, id))
      return false
    } catch (error) {
      return ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')
    }
  }

  /** Writes files again that were taken away and are still held, or are in the journal. Throws what the disk says. */
  look(): void {
    for (const file of this.#files.values()) {
      const canBe = file.isHeld || file.journaledBytes !== undefined
      // A file that is being written is looked at when it is synced.
      if (canBe && !file.isBeingChanged) file.putBack()
    }
  }

  #opened(id: string, flags: 'wx+' | 'r+'): SpoolFile {
    const file = new SpoolFile(join(this.dir, id), id, this.#dirSync, this.#world.disk, this.#taken)
    this.#inFolder(() => file.open(flags), flags === 'wx+')
    this.#files.set(id, file)
    return file
  }

  /** Once more, where the folder was taken away and a new file makes it again. */
  #inFolder(open: () => void, isNew: boolean): void {
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

  /** The file leaves the spool: removed, or taken over by the cache. */
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
   * Makes the content survive a power cut, unless it is so small that `journal` does, and takes its digest, unless that would
   * be to read holes for minutes.
   */
  async secure(file: SpoolFile): Promise<void> {
    await file.written()
    const isBig = !isSmall(file) || this.#inJournal > allJournaledBytes
    await Promise.all([isBig ? file.sync() : undefined, file.isMostlyHoles ? undefined : file.learnDigest()])
  }

  /** Makes content survive a power cut that may not have been secured yet. Throws ENOENT when the file is gone. */
  async makeDurable(id: string): Promise<void> {
    const file = this.get(id)
    if (file.journaledBytes === undefined && !file.isSynced) await file.sync()
  }

  /** Notes what is known of the content, for when no row leads to it. */
  describe(file: SpoolFile, path: string): void {
    this.#known.set(file.id, { path, ...file.digest })
  }

  /** Notes on a content beside the journal. */
  infoOf(id: string): SpoolInfo | undefined {
    return this.#known.get(id)
  }

  /** The other half of `secure`, for the transaction that journals the intention for `path`. */
  journal(file: SpoolFile, path: string): void {
    this.describe(file, path)
    this.leaveJournal(file)
    // A file that has grown since `secure` is still being written: its own close secures it.
    if (!isSmall(file) || file.isSynced) return
    this.#journaled.save(file.id, file.readAll())
    this.#isJournaled(file, file.size)
  }

  /** The journal has lost what it had of the content: as far as it is here it has it again. */
  journalAgain(): void {
    for (const file of this.#files.values())
      if (file.journaledBytes !== undefined) this.#journaled.save(file.id, file.readAll())
  }

  /** After a crash: the file holds again what the journal says. */
  restore(id: string, bytes: Uint8Array): void {
    this.#world.disk.writeFileSync(join(this.dir, id), bytes, { mode: 0o600 })
    const file = this.get(id)
    file.journaledBytes = bytes.length
    this.#inJournal += bytes.length
    file.idle()
  }

  /** It is on disk by itself, or is journaled anew: the journal has nothing of it any more. */
  leaveJournal(file: SpoolFile): void {
    if (file.journaledBytes === undefined) return
    this.#journaled.remove(file.id)
    this.#isJournaled(file, undefined)
  }

  /** The journal has so many bytes of it from now on; undefined: it has none. */
  #isJournaled(file: SpoolFile, bytes: number | undefined): void {
    const before = file.journaledBytes
    const set = (now: number | undefined): void => {
      this.#inJournal += (now ?? 0) - (file.journaledBytes ?? 0)
      file.journaledBytes = now
    }
    set(bytes)
    this.#journaled.onRollback(() => set(before))
  }

  /** The ids of all files here. */
  async ids(): Promise<string[]> {
    return (await this.#world.disk.readdir(this.dir)).filter((name) => !name.endsWith(spoolInfoSuffix))
  }

  /** Never throws: what the disk does not let go of is swept at the next start. */
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

/** Enough of the name for people, and nothing that another system could stumble over. */
function newId(name: string, chance: Chance): string {
  return `${name
    .replaceAll(/[^A-Za-z0-9._-]/g, '_')
    .replace(/^\./, '_')
    .slice(0, 60)}-${chance.uuid()}`
}

function isSmall(file: SpoolFile): boolean {
  return file.size <= journaledBytes
}

/** A new file is only as durable as its name. */
export async function syncFolder(dir: string, disk: Disk): Promise<void> {
  const handle = await disk.open(dir, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
