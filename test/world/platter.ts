// A disk in memory that knows what is synced: the content of each file, and the names in its folders. After a cut what was
// synced is there, and of what was not any subset, in any order, torn in the middle of a write. Paths are relative to the
// folder it is attached to; the databases in that folder are real files (journal-files.ts).

import type { Chance } from '../model/chance.ts'

export class FileBytes {
  data: Buffer = Buffer.alloc(0)
  /** A buffer that begins with `data`, and goes on with zeros. */
  #room: Buffer = this.data
  #isHeld = false
  #synced: Buffer = Buffer.alloc(0)
  /** Changes that the disk has been told since the last sync, oldest first. */
  #changes: Change[] = []
  /** A sync has failed: what is read is more than the disk was told. */
  #hasLost = false

  write(offset: number, bytes: Uint8Array): void {
    const copy = Buffer.from(bytes)
    this.#changes.push({ offset, bytes: copy })
    const { length } = this.data
    const end = Math.max(length, offset + bytes.length)
    // A sync under way holds on to what was there when it began.
    if (end > this.#room.length || (this.#isHeld && offset < length)) {
      this.#room = Buffer.alloc(end > this.#room.length ? Math.max(end, 2 * length) : end)
      this.data.copy(this.#room)
      this.#isHeld = false
    }
    copy.copy(this.#room, offset)
    this.data = this.#room.subarray(0, end)
  }

  truncate(size: number): void {
    this.#changes.push({ size })
    this.#hold(resized(this.data, size))
  }

  /** Later writes leave this buffer as it is. */
  #hold(data: Buffer): void {
    this.data = data
    this.#room = data
    this.#isHeld = true
  }

  /**
   * Everything written up to now is on disk when the answer is called with true. With false it never will be, unless
   * it is written again: it goes on being read, and no later sync knows of it (Linux, fsync(2)).
   */
  beginSync(): EndSync {
    const { data } = this
    this.#isHeld = true
    const count = this.#changes.length
    const changes = this.#changes
    return (isTaken) => {
      if (this.#changes !== changes) return
      if (!isTaken) this.#hasLost = true
      else if (!this.#hasLost) this.#synced = data
      else for (const change of changes.slice(0, count)) this.#synced = changed(this.#synced, change)
      this.#changes = changes.slice(count)
    }
  }

  /** The power goes. */
  cut(chance: Chance): void {
    let data = this.#synced
    for (const change of this.#changes) {
      if (chance.random() < 0.5) continue
      if ('size' in change) data = resized(data, change.size)
      // Torn: a sector is written whole or not at all.
      else if (chance.random() < 0.7) data = written(data, change.offset, change.bytes)
      else {
        const sectors = Math.floor(change.bytes.length / sectorBytes)
        data = written(data, change.offset, change.bytes.subarray(0, chance.below(sectors + 1) * sectorBytes))
      }
    }
    this.#hold(data)
    this.#synced = data
    this.#changes = []
    this.#hasLost = false
  }
}

type Change = { readonly offset: number; readonly bytes: Buffer } | { readonly size: number }

/** Ends a sync; false: the disk refused it. */
export type EndSync = (isTaken: boolean) => void

function changed(data: Buffer, change: Change): Buffer {
  return 'size' in change ? resized(data, change.size) : written(data, change.offset, change.bytes)
}

const sectorBytes = 512
/** More than this that nobody asked to be on disk the kernel puts there by itself, the oldest first. */
const mostUnsynced = 1_000

type NameChange =
  | { readonly kind: 'set'; readonly path: string; readonly file: FileBytes }
  | { readonly kind: 'remove'; readonly path: string }
  | { readonly kind: 'rename'; readonly path: string; readonly to: string; readonly file: FileBytes }

export type DiskTrouble = 'none' | 'full' | 'errors' | 'slow'

export class Platter {
  readonly names = new Map<string, FileBytes>()
  readonly #chance: Chance
  #syncedNames = new Map<string, FileBytes>()
  #changes: NameChange[] = []
  /** Trouble that its writers meet. */
  trouble: DiskTrouble = 'none'
  /** True if its trouble may also refuse a transaction of the journal, at its end. */
  refusesJournal = false
  /** True if it may also refuse any row of the journal, in the midst of a transaction. */
  refusesRows = false
  faults = 0

  constructor(chance: Chance) {
    this.#chance = chance
  }

  /** Milliseconds that a call takes. */
  latencyMs(): number {
    const ms = this.#chance.random() * 0.4
    return this.trouble === 'slow' ? ms * 500 : ms
  }

  /** Throws what the disk throws, now and then. */
  mayWrite(isSync = false): void {
    if (this.trouble === 'full' && !isSync && this.#chance.random() < 0.5) throw this.#fault('ENOSPC')
    if (this.trouble === 'errors' && this.#chance.random() < 0.1) throw this.#fault('EIO')
  }

  /** The same for a transaction of the journal, at its end. */
  mayCommit(): void {
    if (!this.refusesJournal) return
    if (this.trouble === 'full' && this.#chance.random() < 0.3) throw this.#fault('SQLITE_FULL')
    if (this.trouble === 'errors' && this.#chance.random() < 0.1) throw this.#fault('SQLITE_IOERR_WRITE')
  }

  /** The same for a row of it. */
  mayWriteRow(): void {
    if (!this.refusesRows) return
    if (this.trouble === 'full' && this.#chance.random() < 0.1) throw this.#fault('SQLITE_FULL')
    if (this.trouble === 'errors' && this.#chance.random() < 0.03) throw this.#fault('SQLITE_IOERR_WRITE')
  }

  #fault(code: string): Error {
    this.faults++
    return diskError(code, 'the simulated disk')
  }

  set(path: string, file: FileBytes): void {
    this.names.set(path, file)
    this.#changed({ kind: 'set', path, file })
  }

  remove(path: string): void {
    if (!this.names.delete(path)) throw diskError('ENOENT', path)
    this.#changed({ kind: 'remove', path })
  }

  rename(path: string, to: string): void {
    const file = this.names.get(path)
    if (file === undefined) throw diskError('ENOENT', path)
    this.names.delete(path)
    this.names.set(to, file)
    this.#changed({ kind: 'rename', path, to, file })
  }

  #changed(change: NameChange): void {
    this.#changes.push(change)
    if (this.#changes.length <= mostUnsynced) return
    for (const oldest of this.#changes.splice(0, mostUnsynced / 2)) apply(this.#syncedNames, oldest)
  }

  /** The names in a folder are on disk when the answer is called. */
  beginFolderSync(folder: string): EndSync {
    const isThere = (path: string): boolean => path.slice(0, path.lastIndexOf('/')) === folder
    const done = new Set<NameChange>()
    // With what came before to the names of what was renamed: it does not come again behind that (2900017).
    const names = new Set<string>()
    for (const change of this.#changes.toReversed()) {
      const both = namesOf(change)
      if (!both.some((name) => isThere(name) || names.has(name))) continue
      done.add(change)
      for (const name of both) names.add(name)
    }
    return (isTaken) => {
      if (!isTaken) return
      // A sync of the other folder of a rename may have been faster.
      for (const change of this.#changes) if (done.has(change)) apply(this.#syncedNames, change)
      this.#changes = this.#changes.filter((change) => !done.has(change))
    }
  }

  /** The power goes: nothing of it may be used any more but by who attaches it anew. */
  cut(): void {
    for (const change of this.#changes) if (this.#chance.random() < 0.5) apply(this.#syncedNames, change)
    this.#changes = []
    this.names.clear()
    for (const [path, file] of this.#syncedNames) this.names.set(path, file)
    for (const file of new Set(this.names.values())) file.cut(this.#chance)
  }
}

function namesOf(change: NameChange): readonly string[] {
  return change.kind === 'rename' ? [change.path, change.to] : [change.path]
}

function apply(names: Map<string, FileBytes>, change: NameChange): void {
  if (change.kind !== 'set') names.delete(change.path)
  if (change.kind === 'set') names.set(change.path, change.file)
  if (change.kind === 'rename') names.set(change.to, change.file)
}

function written(data: Buffer, offset: number, bytes: Buffer): Buffer {
  const grown = Buffer.alloc(Math.max(data.length, offset + bytes.length))
  data.copy(grown)
  bytes.copy(grown, offset)
  return grown
}

function resized(data: Buffer, size: number): Buffer {
  const resized = Buffer.alloc(size)
  data.copy(resized)
  return resized
}

export function diskError(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code })
}
