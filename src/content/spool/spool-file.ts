// One document's local content: a file of the spool, its size, its digest, and how much of it survives a power cut. How it is held
// open: `held-file.ts`. Knows no journal and no other file.

import type { Disk } from '../../world/disk.ts'
import { digestOf, RunningDigest, type Digest } from '../digest.ts'
import { BelievedSync } from './believed-sync.ts'
import type { GroupSync } from './group-sync.ts'
import { HeldFile } from './held-file.ts'

/** Up to this many bytes a synchronous call into the page cache is cheaper than a trip through the thread pool. */
export const syncCallBytes: number = 64 * 1024
/** To read so much takes longer than a start, or a close, may be held up for what only checks. */
export const longBytes: number = 64 * 1024 * 1024
/** The unit of `st_blocks`, whatever the disk's own is. */
const statBlockBytes = 512
const streamChunkBytes = 3 * 192 * 1024

let lastOrder = 0

/** Remedies for a file that is not at its path any more. */
export interface TakenAway {
  /** It is written again, of what is held here: makes the folder where that is missing. */
  willBeWritten(file: SpoolFile): void
  /** Writes it again of what the journal has. False where that has nothing of it. */
  bringBack(file: SpoolFile): boolean
}

/** `epoch` counts the changes of the content, so that a commit knows what it sent. */
export class SpoolFile {
  readonly id: string
  readonly path: string
  /** Grows with every file that is opened: of two contents of a document the newer has the greater. */
  readonly order: number
  /** Bytes of the content in the journal; undefined where it is not there. */
  journaledBytes: number | undefined
  readonly #dirSync: GroupSync
  readonly #disk: Disk
  readonly #file: HeldFile
  #isEntrySynced = false
  /** As of which epoch the content is on disk. */
  #syncedEpoch = -1
  readonly #contentSync = new BelievedSync()
  #size = 0
  #epoch = 0
  /** Changes that `epoch` counts already and that are not in the file yet. */
  readonly #changes = new Set<Promise<unknown>>()
  #running: RunningDigest | undefined
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
      bringBack: () => taken.bringBack(this),
    })
  }

  /** Bytes. */
  get size(): number {
    return this.#size
  }

  /** True for what is long although little was written: reading it would take out of all proportion. */
  get isMostlyHoles(): boolean {
    if (this.#size <= longBytes) return false
    const { blocks } = this.#disk.fstatSync(this.fd)
    return blocks * statBlockBytes < this.#size / 2
  }

  /** Grows by one with every change of the content. */
  get epoch(): number {
    return this.#epoch
  }

  /** A new, empty file with `wx+`, else the one that is there. */
  open(flags: 'wx+' | 'r+'): void {
    this.#file.open(flags)
    if (flags === 'wx+') this.#running = new RunningDigest()
  }

  /** Opens it where it is not held. Throws what the disk says, EIO where it is gone. */
  get fd(): number {
    return this.#file.fd
  }

  /** True while its bytes are held here, whatever becomes of its path. */
  get isHeld(): boolean {
    return this.#file.isHeld
  }

  /** True where the file at its path is the one that is held; where none is, where there is one. */
  get isInPlace(): boolean {
    return this.#file.isInPlace
  }

  /** Back at its path, where it was taken away and is held, or the journal has it. Throws what the disk says, EIO where it is gone. */
  putBack(): void {
    if (!this.#file.putBack(this.#size)) return
    this.#isEntrySynced = false
    this.#syncedEpoch = -1
  }

  /** Keeps the descriptor open while work on it is in the thread pool: its number may soon be another file's. */
  use<T>(work: (fd: number) => Promise<T>): Promise<T> {
    return this.#file.use(work)
  }

  /** Gives the descriptor back; the next use opens the file again. */
  idle(): void {
    this.#file.idle()
  }

  read(offset: number, length: number): Uint8Array | Promise<Uint8Array> {
    const wanted = Math.max(0, Math.min(length, this.#size - offset))
    const buffer = Buffer.allocUnsafe(wanted)
    if (wanted <= syncCallBytes)
      return buffer.subarray(0, this.#disk.readSync(this.fd, buffer, 0, wanted, offset))
    return this.use(async (fd) => {
      const { bytesRead } = await this.#disk.read(fd, buffer, 0, wanted, offset)
      return buffer.subarray(0, bytesRead)
    })
  }

  /** Writes all of `data`; ENOSPC and friends reach the writer, and what was accepted before is unharmed. */
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

  /** The digest that an earlier run journaled of the content. */
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
    this.#file.checkWritable()
    this.#epoch++
    if (size === 0) this.#running = new RunningDigest()
    else this.#running?.lose()
    // O_TRUNC: a file was just made for what is written next.
    if (size === 0 && this.#size === 0 && !this.isBeingChanged) return
    await this.#change(async (fd) => {
      await this.#disk.ftruncate(fd, size)
      this.#size = size
    })
  }

  /** Content was put into `fd` by somebody else (copy-up): measure it. */
  remeasure(): void {
    this.#epoch++
    this.#running?.lose()
    this.#size = this.#disk.fstatSync(this.fd).size
  }

  readAll(): Uint8Array {
    const bytes = Buffer.allocUnsafeSlow(this.#size)
    return bytes.subarray(0, this.#disk.readSync(this.fd, bytes, 0, this.#size, 0))
  }

  /** After this the content survives a power cut. Costs nothing where it does already: a rename of what is saved is no write. */
  async sync(): Promise<void> {
    const epoch = this.#epoch
    if (this.isSynced && this.#isEntrySynced && this.isInPlace) return
    await this.written()
    this.putBack()
    const synced = this.use((fd) =>
      this.#contentSync.run(
        () => this.#disk.fdatasync(fd),
        () => this.#writeAgain(),
      ),
    )
    // The file system makes one commit of both.
    await (this.#isEntrySynced ? synced : Promise.all([synced, this.#dirSync.run()]))
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
      // Changed meanwhile: what was read is old.
      if (epoch !== this.#epoch) continue
      if (bytesRead === 0) return
      at += this.#disk.writeSync(fd, piece, 0, bytesRead, at)
    }
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
