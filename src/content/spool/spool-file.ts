// A file of the spool: the local content of one document, with its size, its digest, and whether it survives a power cut. Its
// descriptor is in `held-file.ts`. Knows no journal and no other file.

import type { Disk } from '../../world/disk.ts'
import { digestOf, RunningDigest, type Digest } from '../digest.ts'
import { BelievedSync } from './believed-sync.ts'
import type { GroupSync } from './group-sync.ts'
import { HeldFile } from './held-file.ts'

/** Up to so many bytes, a synchronous call into the page cache is cheaper than one in the thread pool. */
export const syncCallBytes: number = 64 * 1024
/** Content of more bytes takes too long to read in a start or a close, if only for a check. */
export const longBytes: number = 64 * 1024 * 1024
/** The unit of `st_blocks`, on every disk. */
const statBlockBytes = 512
const streamChunkBytes = 3 * 192 * 1024

let lastOrder = 0

/** Callbacks for a file that was removed from its path by somebody else. */
export interface TakenAway {
  /** Called before it is written again from its open descriptor: creates the folder where missing. */
  willBeWritten(file: SpoolFile): void
  /** Writes it again from the journal. False where its content is not in there. */
  bringBack(file: SpoolFile): boolean
}

/** One file of the spool. */
export class SpoolFile {
  readonly id: string
  readonly path: string
  /** Increases with every file opened, so that it tells the newer of two contents of a document. */
  readonly order: number
  /** Bytes of the content in the journal; undefined if it is not in there. */
  journaledBytes: number | undefined
  readonly #dirSync: GroupSync
  readonly #disk: Disk
  readonly #file: HeldFile
  /** True once its name in the folder survives a power cut. */
  #isEntrySynced = false
  /** The epoch whose content was last synced. */
  #syncedEpoch = -1
  readonly #contentSync = new BelievedSync()
  /** How often the file was written again, as a new one. */
  #copies = 0
  #size = 0
  #epoch = 0
  /** Changes that `epoch` counts already, but that are not in the file yet. */
  readonly #changes = new Set<Promise<unknown>>()
  /** Digest of the writes so far; undefined for a file that was not created by this object. */
  #running: RunningDigest | undefined
  /** Digest of the content as it was at this epoch. */
  #known: { readonly digest: Digest; readonly epoch: number } | undefined

  constructor(path: string, id: string, dirSync: GroupSync, disk: Disk, taken: TakenAway) {
    this.id = id
    this.path = path
    this.order = ++lastOrder
    this.#dirSync = dirSync
    this.#disk = disk
    this.#file = new HeldFile({
      path,
      disk,
      opened: (bytes) => (this.#size = bytes),
      willBeWritten: () => taken.willBeWritten(this),
      bringBack: () => {
        const isBack = taken.bringBack(this)
        if (isBack) this.#isNewFile()
        return isBack
      },
    })
  }

  /** Bytes. */
  get size(): number {
    return this.#size
  }

  /** True for a long sparse file, which would take far too long to read for the little that was written. */
  get isMostlyHoles(): boolean {
    if (this.#size <= longBytes) return false
    const { blocks } = this.#disk.fstatSync(this.fd)
    return blocks * statBlockBytes < this.#size / 2
  }

  /** Number of changes of the content, so that a commit knows which state it sent. */
  get epoch(): number {
    return this.#epoch
  }

  /** Creates an empty file (`wx+`), or opens an existing one (`r+`). */
  open(flags: 'wx+' | 'r+'): void {
    this.#file.open(flags)
    if (flags === 'wx+') this.#running = new RunningDigest()
  }

  /** The descriptor; opens the file if it is not open. Throws the disk's error, EIO where the file is gone. */
  get fd(): number {
    return this.#file.fd
  }

  /** True while the file is open, so that its bytes stay readable even if it is removed from its path. */
  get isHeld(): boolean {
    return this.#file.isHeld
  }

  /** True if the file at the path is the open one; without an open one, if any file is there. */
  get isInPlace(): boolean {
    return this.#file.isInPlace
  }

  /** Writes the file again if it was removed from its path. Throws the disk's error, EIO where its content is lost. */
  putBack(): void {
    if (this.#file.putBack(this.#size)) this.#isNewFile()
  }

  #isNewFile(): void {
    this.#copies++
    this.#isEntrySynced = false
    this.#syncedEpoch = -1
  }

  /** Keeps the descriptor open while work on it is in the thread pool: its number may soon be another file's. */
  #use<T>(work: (fd: number) => Promise<T>): Promise<T> {
    return this.#file.use(work)
  }

  /** Closes the descriptor, after the operations under way; the next use opens the file again. */
  idle(): void {
    this.#file.idle()
  }

  read(offset: number, length: number): Uint8Array | Promise<Uint8Array> {
    const wanted = Math.max(0, Math.min(length, this.#size - offset))
    const buffer = Buffer.allocUnsafe(wanted)
    if (wanted <= syncCallBytes)
      return buffer.subarray(0, this.#disk.readSync(this.fd, buffer, 0, wanted, offset))
    return this.#use(async (fd) => {
      const { bytesRead } = await this.#disk.read(fd, buffer, 0, wanted, offset)
      return buffer.subarray(0, bytesRead)
    })
  }

  /** Writes `data`; returns the bytes written. Throws the disk's error, such as ENOSPC; earlier writes stay intact. */
  write(offset: number, data: Uint8Array): number | Promise<number> {
    this.#file.checkWritable()
    this.#epoch++
    this.#running?.add(offset, data)
    if (data.length <= syncCallBytes) {
      try {
        return this.#wrote(offset, this.#disk.writeSync(this.fd, data, 0, data.length, offset), data.length)
      } catch (error) {
        this.#running?.lose()
        throw error
      }
    }
    return this.#change(async (fd) => {
      try {
        const { bytesWritten } = await this.#disk.write(fd, data, 0, data.length, offset)
        return this.#wrote(offset, bytesWritten, data.length)
      } catch (error) {
        this.#running?.lose()
        throw error
      }
    })
  }

  /** True while changes are under way that are not in the file yet. */
  get isBeingChanged(): boolean {
    return this.#changes.size > 0
  }

  /** Digest of the present content, if it was written in order, or read by `learnDigest`; else undefined. */
  get digest(): Digest | undefined {
    if (this.#known?.epoch === this.#epoch) return this.#known.digest
    const digest = this.isBeingChanged ? undefined : this.#running?.at(this.#size)
    if (digest !== undefined) this.knowDigest(digest)
    return digest
  }

  /** Makes `digest` available, by reading the content if needed, unless it is changed meanwhile. */
  async learnDigest(): Promise<void> {
    const epoch = this.#epoch
    await this.written()
    if (this.digest === undefined) this.#known = { digest: await digestOf(this.stream()), epoch }
  }

  /** Sets the digest of the present content, as journaled by an earlier run. */
  knowDigest(digest: Digest): void {
    this.#known = { digest, epoch: this.#epoch }
  }

  #change<T>(work: (fd: number) => Promise<T>): Promise<T> {
    const change = this.#inPlace(work)
    this.#changes.add(change)
    const forget = (): boolean => this.#changes.delete(change)
    change.then(forget, forget)
    return change
  }

  /** Does the work again where the file was put back meanwhile: the work was done on the file that was taken away. */
  async #inPlace<T>(work: (fd: number) => Promise<T>): Promise<T> {
    for (;;) {
      const copies = this.#copies
      const result = await this.#use(work)
      if (copies === this.#copies) return result
    }
  }

  /** Resolves when all changes so far are in the file, or have failed. */
  async written(): Promise<void> {
    if (this.#changes.size > 0) await Promise.allSettled(this.#changes)
  }

  #wrote(offset: number, bytes: number, asked: number): number {
    if (bytes < asked) this.#running?.lose()
    this.#size = Math.max(this.#size, offset + bytes)
    return bytes
  }

  async truncate(size: number): Promise<void> {
    this.#file.checkWritable()
    this.#epoch++
    if (size === 0) this.#running = new RunningDigest()
    else this.#running?.lose()
    // O_TRUNC on a file that was just created changes nothing.
    if (size === 0 && this.#size === 0 && !this.isBeingChanged) return
    await this.#change(async (fd) => {
      await this.#disk.ftruncate(fd, size)
      this.#size = size
    })
  }

  /** Lets others write the whole content (copy-up), once more where the file is taken away meanwhile. */
  async fill<T>(write: (fd: number) => Promise<T>): Promise<T> {
    const result = await this.#change(write)
    this.#epoch++
    this.#running?.lose()
    this.#size = this.#disk.fstatSync(this.fd).size
    return result
  }

  /** The whole content, synchronously: for small content. */
  readAll(): Uint8Array {
    const bytes = Buffer.allocUnsafeSlow(this.#size)
    return bytes.subarray(0, this.#disk.readSync(this.fd, bytes, 0, this.#size, 0))
  }

  /** Makes the content survive a power cut. Does nothing if it does already. */
  async sync(): Promise<void> {
    const epoch = this.#epoch
    if (this.isSynced && this.#isEntrySynced && this.isInPlace) return
    await this.written()
    this.putBack()
    const copies = this.#copies
    const synced = this.#use((fd) =>
      this.#contentSync.run(
        () => this.#disk.fdatasync(fd),
        () => this.#writeAgain(),
      ),
    )
    // At the same time, so that the file system needs only one commit for both.
    await (this.#isEntrySynced ? synced : Promise.all([synced, this.#dirSync.run()]))
    // Meanwhile it was put back: the file that was synced is not the one at its path.
    if (copies !== this.#copies) return this.sync()
    this.#isEntrySynced = true
    this.#syncedEpoch = epoch
  }

  async #writeAgain(): Promise<void> {
    this.#file.checkWritable()
    const { fd } = this
    const piece = Buffer.allocUnsafe(streamChunkBytes)
    for (let at = 0; at < this.#size;) {
      await this.written()
      const epoch = this.#epoch
      const { bytesRead } = await this.#disk.read(fd, piece, 0, piece.length, at)
      // The content was changed meanwhile, so the bytes read may be old.
      if (epoch !== this.#epoch) continue
      if (bytesRead === 0) return
      at += this.#disk.writeSync(fd, piece, 0, bytesRead, at)
    }
  }

  /** True where the present content survives a power cut, even without the journal. */
  get isSynced(): boolean {
    return this.#syncedEpoch === this.#epoch
  }

  /** The whole content, in chunks. Uses a descriptor of its own, so that `idle` and `remove` do not interfere. */
  async *stream(): AsyncIterable<Uint8Array> {
    if (this.#size <= syncCallBytes) {
      if (this.#size > 0) yield await this.read(0, this.#size)
      return
    }
    this.putBack()
    const file = await this.#disk.open(this.path, 'r')
    try {
      for (let offset = 0; ;) {
        const buffer = Buffer.allocUnsafe(streamChunkBytes)
        const { bytesRead } = await file.read(buffer, 0, streamChunkBytes, offset)
        if (bytesRead === 0) return
        yield buffer.subarray(0, bytesRead)
        offset += bytesRead
      }
    } finally {
      await file.close()
    }
  }
}
