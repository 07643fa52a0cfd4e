// The spool: local content the service has not got yet, one file each, in the state folder. On disk before anybody is
// told "saved": by a sync of its own, or, where it is small, as a row of the journal, whose one sync then covers content and
// intention. Never in a cache folder, which cleaners empty. Beside it lies what is known of it (spool-info.ts).

import { randomUUID } from 'node:crypto'
import * as fs from 'node:fs'
import { copyFile, open, readdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { digestOf, RunningDigest, type Digest } from '../digest.ts'
import { GroupSync } from './group-sync.ts'
import { makePrivateFolder } from './private-file.ts'
import { removeSpoolInfo, spoolInfoSuffix, writeSpoolInfo } from './spool-info.ts'

const fdatasync = promisify(fs.fdatasync)
const readAsync = promisify(fs.read)
const writeAsync = promisify(fs.write)
const ftruncate = promisify(fs.ftruncate)

/** Up to this many bytes a synchronous call into the page cache is cheaper than a trip through the thread pool. */
const syncCallBytes = 64 * 1024
const streamChunkBytes = 3 * 192 * 1024
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

/** What the spool needs of the journal. */
export interface ContentRows {
  saveContent(spool: string, bytes: Uint8Array): void
  removeContent(spool: string): void
}

export class Spool {
  readonly dir: string
  readonly #files = new Map<string, SpoolFile>()
  readonly #dirSync: GroupSync
  readonly #rows: ContentRows
  /** Bytes of the files that are in the journal. */
  #inJournal = 0

  /** Makes the folder (mode 0700) where missing. */
  constructor(dir: string, rows: ContentRows) {
    this.dir = dir
    this.#rows = rows
    makePrivateFolder(dir)
    this.#dirSync = new GroupSync(() => syncFolder(dir))
  }

  /** A new, empty file; `name` is for people who look into the folder. */
  create(name: string): SpoolFile {
    return this.#opened(newId(name), 'wx+')
  }

  /** A file that only repeats what is elsewhere: a start after a crash removes it. */
  createTemporary(): SpoolFile {
    return this.#opened(`${temporaryPrefix}${randomUUID()}`, 'wx+')
  }

  /** A file of its own with the first `length` bytes of another, which stays as it is. Shares blocks where the disk can. */
  async copyOf(file: SpoolFile, name: string, length: number): Promise<SpoolFile> {
    if (length === 0) return this.create(name)
    await file.written()
    const id = newId(name)
    const path = join(this.dir, id)
    try {
      await copyFile(file.path, path, fs.constants.COPYFILE_FICLONE)
      const copy = this.#opened(id, 'r+')
      if (length < copy.size) await copy.truncate(length)
      return copy
    } catch (error) {
      this.forget(id)
      await unlink(path).catch(() => {})
      throw error
    }
  }

  /** `copyOf` for content that is cheaper to copy than to wait for. Undefined where it is not. */
  smallCopyOf(file: SpoolFile, name: string, length: number): SpoolFile | undefined {
    if (length > syncCallBytes || file.isBeingChanged) return undefined
    const copy = this.create(name)
    if (length > 0) void copy.write(0, file.readAll().subarray(0, length))
    return copy
  }

  /** The one object for a file here, of this run or an earlier one. Throws ENOENT when the file is gone. */
  get(id: string): SpoolFile {
    return this.#files.get(id) ?? this.#opened(id, 'r+')
  }

  has(id: string): boolean {
    return this.#files.has(id) || fs.existsSync(join(this.dir, id))
  }

  #opened(id: string, flags: 'wx+' | 'r+'): SpoolFile {
    const file = new SpoolFile(join(this.dir, id), id, this.#dirSync)
    file.open(flags)
    this.#files.set(id, file)
    return file
  }

  /** The file leaves the spool: removed, or taken over by the cache. */
  forget(id: string): void {
    const file = this.#files.get(id)
    if (file === undefined) return
    file.idle()
    this.#files.delete(id)
    this.#leaveJournal(file)
    removeSpoolInfo(file.path)
  }

  /** Makes the content survive a power cut, unless it is so small that `journal` does, and takes its digest. */
  async secure(file: SpoolFile): Promise<void> {
    await file.written()
    const isBig = !isSmall(file) || this.#inJournal > allJournaledBytes
    await Promise.all([isBig ? file.sync() : undefined, file.learnDigest()])
  }

  /** Makes content survive a power cut that may not have been secured yet. Throws ENOENT when the file is gone. */
  async makeDurable(id: string): Promise<void> {
    const file = this.get(id)
    if (file.journaledBytes === undefined && !file.isSynced) await file.sync()
  }

  /** The other half of `secure`, for the transaction that journals the intention for `path`. */
  journal(file: SpoolFile, path: string): void {
    writeSpoolInfo(file.path, { path, ...file.digest })
    this.#leaveJournal(file)
    // What has grown since `secure` is still being written: its own close secures it.
    if (!isSmall(file) || file.isSynced) return
    this.#rows.saveContent(file.id, file.readAll())
    file.journaledBytes = file.size
    this.#inJournal += file.size
  }

  /** After a crash: the file holds again what the journal says. */
  restore(id: string, bytes: Uint8Array): void {
    fs.writeFileSync(join(this.dir, id), bytes, { mode: 0o600 })
    const file = this.get(id)
    file.journaledBytes = bytes.length
    this.#inJournal += bytes.length
    file.idle()
  }

  #leaveJournal(file: SpoolFile): void {
    if (file.journaledBytes === undefined) return
    this.#rows.removeContent(file.id)
    this.#inJournal -= file.journaledBytes
    file.journaledBytes = undefined
  }

  /** The ids of all files here. */
  async ids(): Promise<string[]> {
    return (await readdir(this.dir)).filter((name) => !name.endsWith(spoolInfoSuffix))
  }

  async remove(id: string): Promise<void> {
    const isShort = (this.#files.get(id)?.size ?? Infinity) <= syncCallBytes
    this.forget(id)
    const path = join(this.dir, id)
    try {
      if (isShort) fs.unlinkSync(path)
      else await unlink(path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
}

/** Enough of the name for people, and nothing that another system could stumble over. */
function newId(name: string): string {
  return `${name
    .replaceAll(/[^A-Za-z0-9._-]/g, '_')
    .replace(/^\./, '_')
    .slice(0, 60)}-${randomUUID()}`
}

let lastOrder = 0

/** One document's local content. `epoch` counts its changes, so that a commit knows what it sent. */
export class SpoolFile {
  readonly id: string
  readonly path: string
  /** Grows with every file that is opened: of two contents of a document the newer has the greater. */
  readonly order: number
  /** Bytes of the content in the journal; undefined where it is not there. */
  journaledBytes: number | undefined
  readonly #dirSync: GroupSync
  #fd: number | undefined
  #isEntrySynced = false
  /** As of which epoch the content is on disk. */
  #syncedEpoch = -1
  /** Operations under way on the descriptor. */
  #users = 0
  /** The descriptor is to be given back when the last of them ends. */
  #isIdle = false
  #size = 0
  #epoch = 0
  /** Changes that `epoch` counts already and that are not in the file yet. */
  readonly #changes = new Set<Promise<unknown>>()
  #running: RunningDigest | undefined
  #known: { readonly digest: Digest; readonly epoch: number } | undefined

  constructor(path: string, id: string, dirSync: GroupSync) {
    this.id = id
    this.path = path
    this.order = ++lastOrder
    this.#dirSync = dirSync
  }

  /** Bytes. */
  get size(): number {
    return this.#size
  }

  /** Grows by one with every change of the content. */
  get epoch(): number {
    return this.#epoch
  }

  open(flags: 'wx+' | 'r+'): void {
    this.#fd = fs.openSync(this.path, flags, 0o600)
    this.#size = fs.fstatSync(this.#fd).size
    if (flags === 'wx+') this.#running = new RunningDigest()
  }

  get fd(): number {
    if (this.#fd === undefined) this.open('r+')
    return this.#fd as number
  }

  /** Keeps the descriptor open while work on it is in the thread pool: its number may soon be another file's. */
  async use<T>(work: (fd: number) => Promise<T>): Promise<T> {
    this.#users++
    try {
      return await work(this.fd)
    } finally {
      this.#users--
      if (this.#users === 0 && this.#isIdle) this.idle()
    }
  }

  /** Gives the descriptor back; the next use opens the file again. */
  idle(): void {
    this.#isIdle = this.#users > 0
    if (this.#fd === undefined || this.#isIdle) return
    fs.closeSync(this.#fd)
    this.#fd = undefined
  }

  read(offset: number, length: number): Uint8Array | Promise<Uint8Array> {
    const wanted = Math.max(0, Math.min(length, this.#size - offset))
    const buffer = Buffer.allocUnsafe(wanted)
    if (wanted <= syncCallBytes) return buffer.subarray(0, fs.readSync(this.fd, buffer, 0, wanted, offset))
    return this.use(async (fd) => {
      const { bytesRead } = await readAsync(fd, buffer, 0, wanted, offset)
      return buffer.subarray(0, bytesRead)
    })
  }

  /** Writes all of `data`; ENOSPC and friends reach the writer, and what was accepted before is unharmed. */
  write(offset: number, data: Uint8Array): number | Promise<number> {
    this.#epoch++
    this.#running?.add(offset, data)
    if (data.length <= syncCallBytes) {
      try {
        return this.#wrote(offset, fs.writeSync(this.fd, data, 0, data.length, offset), data.length)
      } catch (error) {
        this.#running?.lose()
        throw error
      }
    }
    return this.#change(async (fd) => {
      try {
        const { bytesWritten } = await writeAsync(fd, data, 0, data.length, offset)
        return this.#wrote(offset, bytesWritten, data.length)
      } catch (error) {
        this.#running?.lose()
        throw error
      }
    })
  }

  /** Changes are under way that the file does not hold yet. */
  get isBeingChanged(): boolean {
    return this.#changes.size > 0
  }

  /** Of the content as it is now, where it was written in order, or `learnDigest` has read it. */
  get digest(): Digest | undefined {
    if (this.#known?.epoch === this.#epoch) return this.#known.digest
    const digest = this.isBeingChanged ? undefined : this.#running?.at(this.#size)
    if (digest !== undefined) this.knowDigest(digest)
    return digest
  }

  /** Afterwards `digest` tells, unless the content was changed meanwhile. */
  async learnDigest(): Promise<void> {
    const epoch = this.#epoch
    await this.written()
    if (this.digest === undefined) this.#known = { digest: await digestOf(this.stream()), epoch }
  }

  /** What an earlier run journaled of the content. */
  knowDigest(digest: Digest): void {
    this.#known = { digest, epoch: this.#epoch }
  }

  #change<T>(work: (fd: number) => Promise<T>): Promise<T> {
    const change = this.use(work)
    this.#changes.add(change)
    const over = (): boolean => this.#changes.delete(change)
    change.then(over, over)
    return change
  }

  /** Resolves when everything that `epoch` counts now is in the file, or has failed. */
  async written(): Promise<void> {
    if (this.#changes.size > 0) await Promise.allSettled(this.#changes)
  }

  #wrote(offset: number, bytes: number, asked: number): number {
    if (bytes < asked) this.#running?.lose()
    this.#size = Math.max(this.#size, offset + bytes)
    return bytes
  }

  async truncate(size: number): Promise<void> {
    this.#epoch++
    if (size === 0) this.#running = new RunningDigest()
    else this.#running?.lose()
    await this.#change(async (fd) => {
      await ftruncate(fd, size)
      this.#size = size
    })
  }

  /** Content was put into `fd` by somebody else (copy-up): measure it. */
  remeasure(): void {
    this.#epoch++
    this.#running?.lose()
    this.#size = fs.fstatSync(this.fd).size
  }

  readAll(): Uint8Array {
    const bytes = Buffer.allocUnsafeSlow(this.#size)
    return bytes.subarray(0, fs.readSync(this.fd, bytes, 0, this.#size, 0))
  }

  /** After this the content survives a power cut. Costs nothing where it does already: a rename of what is saved is no write. */
  async sync(): Promise<void> {
    const epoch = this.#epoch
    if (this.isSynced && this.#isEntrySynced) return
    await this.written()
    const synced = this.use((fd) => fdatasync(fd))
    // The file system makes one commit of both.
    await (this.#isEntrySynced ? synced : Promise.all([synced, this.#dirSync.run()]))
    this.#isEntrySynced = true
    this.#syncedEpoch = epoch
  }

  /** True when the content as it is now survives a power cut by itself. */
  get isSynced(): boolean {
    return this.#syncedEpoch === this.#epoch
  }

  /** The whole content from the start, in chunks; a descriptor of its own, so that `idle` and `remove` do not disturb it. */
  async *stream(): AsyncIterable<Uint8Array> {
    if (this.#size <= syncCallBytes) {
      if (this.#size > 0) yield await this.read(0, this.#size)
      return
    }
    const file = await open(this.path, 'r')
    try {
      for (let offset = 0; ;) {
        const { bytesRead, buffer } = await file.read(
          Buffer.allocUnsafe(streamChunkBytes),
          0,
          streamChunkBytes,
          offset,
        )
        if (bytesRead === 0) return
        yield buffer.subarray(0, bytesRead)
        offset += bytesRead
      }
    } finally {
      await file.close()
    }
  }
}

function isSmall(file: SpoolFile): boolean {
  return file.size <= journaledBytes
}

/** A new file is only as durable as its name. */
async function syncFolder(dir: string): Promise<void> {
  const handle = await open(dir, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
