// Blobs as files `ab/<sha256>`. Each is written as `incoming/<uuid>`, fsynced and renamed, then the folder is fsynced (and its
// parent, where the folder is new), so that a file named by its hash is always complete, also after a power cut. Calls that
// the kernel serves from memory (open, rename, close) are synchronous, for the thread pool would make them ten times
// as expensive; calls that wait for the disk are asynchronous.

import { createHash, randomUUID } from 'node:crypto'
import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import type { BlobBackend, BlobWriter, StagedBlob } from './backend.ts'
import { DamagedContentError } from './intact.ts'

const readBytes = 1024 * 1024
export const incomingName = 'incoming'
const hashName = /^[0-9a-f]{64}$/
const prefixName = /^[0-9a-f]{2}$/
const read = promisify(fs.read)
const write = promisify(fs.write)
const sync = promisify(fs.fsync)
/** An upload is fsynced each time so many bytes have arrived, or its last fsync would have to write all of it. */
const earlySyncBytes = 16 * 1024 * 1024

/** Opens the blobs below `folder`, which is made where missing. Removes unpublished blobs, which a crash left. */
export async function openDiskBackend(folder: string): Promise<BlobBackend> {
  fs.rmSync(join(folder, incomingName), { recursive: true, force: true })
  return openFolder(folder)
}

/** As `openDiskBackend`, but unpublished blobs stay: in a shared folder they may be another node's. */
export async function openFolder(folder: string): Promise<DiskBackend> {
  fs.mkdirSync(join(folder, incomingName), { recursive: true, mode: 0o700 })
  // The parent holds the name of `folder`.
  await syncFolder(dirname(folder))
  const prefixes = prefixesIn(folder)
  await syncFolder(folder)
  return new DiskBackend(folder, prefixes)
}

/** True where `folder` exists and has a blob below it. */
export function holdsContents(folder: string): boolean {
  if (!fs.existsSync(folder)) return false
  return prefixesIn(folder).some((prefix) =>
    fs.readdirSync(join(folder, prefix)).some((name) => hashName.test(name)),
  )
}

export class DiskBackend implements BlobBackend {
  readonly #folder: string
  readonly #incoming: string
  /** Folders `ab` that are durable. Each is made for its first blob. */
  readonly #prefixes: Set<string>

  constructor(folder: string, prefixes: readonly string[]) {
    this.#folder = folder
    this.#incoming = join(folder, incomingName)
    this.#prefixes = new Set(prefixes)
  }

  stage(): BlobWriter {
    return new DiskWriter(join(this.#incoming, randomUUID()))
  }

  async publish(staged: StagedBlob): Promise<void> {
    if (!(staged instanceof DiskStagedBlob)) throw new TypeError('staged by another backend')
    this.#makeFolderOf(staged.sha256)
    // The new file replaces one with the same hash: disks damage files, and the new one is known to be intact.
    fs.renameSync(staged.file, this.#fileOf(staged.sha256))
    await this.#syncFolderOf(staged.sha256)
  }

  #makeFolderOf(sha256: string): void {
    if (this.#prefixes.has(prefixOf(sha256))) return
    try {
      fs.mkdirSync(join(this.#folder, prefixOf(sha256)), { mode: 0o700 })
    } catch (error) {
      // Another upload, or another node, made the folder; it may not be durable yet, so it is not added to `#prefixes` here.
      if (!isCode(error, 'EEXIST')) throw error
    }
  }

  async #syncFolderOf(sha256: string): Promise<void> {
    const prefix = prefixOf(sha256)
    await syncFolder(join(this.#folder, prefix))
    if (this.#prefixes.has(prefix)) return
    await syncFolder(this.#folder)
    this.#prefixes.add(prefix)
  }

  has(sha256: string): boolean {
    return fs.existsSync(this.#fileOf(sha256))
  }

  async read(sha256: string, start: number, end: number): Promise<Buffer | undefined> {
    const fd = this.#open(sha256)
    if (fd === undefined) return undefined
    try {
      const bytes = Buffer.allocUnsafeSlow(end - start + 1)
      for (let done = 0; done < bytes.byteLength;) {
        const { bytesRead } = await read(fd, bytes, done, bytes.byteLength - done, start + done)
        if (bytesRead === 0) throw truncatedError(sha256)
        done += bytesRead
      }
      return bytes
    } finally {
      fs.closeSync(fd)
    }
  }

  stream(sha256: string, start: number, end: number, pieceBytes: number = readBytes): Readable | undefined {
    const fd = this.#open(sha256)
    if (fd === undefined) return undefined
    // A stream of a truncated file would end early without an error, and its reader would wait for the rest.
    if (fs.fstatSync(fd).size <= end) {
      fs.closeSync(fd)
      throw truncatedError(sha256)
    }
    return fs.createReadStream('', { fd, start, end, highWaterMark: pieceBytes })
  }

  remove(sha256: string): void {
    unlink(this.#fileOf(sha256))
  }

  *list(): Generator<string[]> {
    for (const prefix of prefixesIn(this.#folder)) {
      const names = fs.readdirSync(join(this.#folder, prefix))
      yield names.filter((name) => hashName.test(name))
    }
  }

  #open(sha256: string): number | undefined {
    try {
      return fs.openSync(this.#fileOf(sha256), 'r')
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  }

  #fileOf(sha256: string): string {
    return join(this.#folder, prefixOf(sha256), sha256)
  }
}

class DiskWriter implements BlobWriter {
  readonly #file: string
  readonly #fd: number
  readonly #hash = createHash('sha256')
  readonly #begunMs = performance.now()
  #size = 0
  /**
   * The write or sync that the thread pool is doing on `#fd`, which must not be closed meanwhile: another file would get
   * its number.
   */
  #underWay: Promise<unknown> = Promise.resolve()
  /** All early syncs. The kernel reports a failed write-back to one fsync only, so a failure here fails the upload. */
  #syncing: Promise<void> = Promise.resolve()
  #isSyncing = false
  /** Size of the upload when the last early sync began. */
  #syncedBytes = 0
  #isOpen = true

  constructor(file: string) {
    this.#file = file
    this.#fd = fs.openSync(file, 'wx', 0o600)
  }

  write(chunk: Uint8Array): Promise<void> {
    return this.#run(async () => {
      this.#hash.update(chunk)
      for (let done = 0; done < chunk.byteLength;) {
        const { bytesWritten } = await write(this.#fd, chunk, done, chunk.byteLength - done, this.#size)
        done += bytesWritten
        this.#size += bytesWritten
      }
      this.#syncEarly()
    })
  }

  #syncEarly(): void {
    if (this.#isSyncing || this.#size - this.#syncedBytes < earlySyncBytes) return
    this.#syncedBytes = this.#size
    this.#isSyncing = true
    this.#syncing = this.#syncing.then(() => sync(this.#fd)).then(() => void (this.#isSyncing = false))
    // `finish` throws the failure; no further early sync is made.
    this.#syncing.catch(() => undefined)
  }

  async finish(): Promise<StagedBlob> {
    await this.#run(async () => {
      await this.#syncing
      await sync(this.#fd)
    })
    if (!this.#isOpen) throw discardedError()
    this.#isOpen = false
    fs.closeSync(this.#fd)
    return new DiskStagedBlob(this.#file, this.#hash.digest('hex'), this.#size, this.#begunMs)
  }

  async discard(): Promise<void> {
    if (this.#isOpen) {
      this.#isOpen = false
      await Promise.allSettled([this.#underWay, this.#syncing])
      fs.closeSync(this.#fd)
    }
    unlink(this.#file)
  }

  async #run(work: () => Promise<void>): Promise<void> {
    if (!this.#isOpen) throw discardedError()
    const turn = work()
    this.#underWay = turn
    await turn
  }
}

function truncatedError(sha256: string): Error {
  return new DamagedContentError(sha256, 'is shorter than recorded')
}

function discardedError(): Error {
  return new Error('the upload was given up')
}

export class DiskStagedBlob implements StagedBlob {
  readonly file: string
  readonly sha256: string
  readonly size: number
  readonly begunMs: number

  constructor(file: string, sha256: string, size: number, begunMs: number) {
    this.file = file
    this.sha256 = sha256
    this.size = size
    this.begunMs = begunMs
  }

  stream(): Readable {
    return fs.createReadStream(this.file, { highWaterMark: readBytes })
  }

  discard(): void {
    unlink(this.file)
  }
}

function prefixOf(sha256: string): string {
  return sha256.slice(0, 2)
}

function prefixesIn(folder: string): string[] {
  return fs.readdirSync(folder).filter((name) => prefixName.test(name))
}

export async function syncFolder(folder: string): Promise<void> {
  const fd = fs.openSync(folder, 'r')
  try {
    await sync(fd)
  } finally {
    fs.closeSync(fd)
  }
}

function unlink(file: string): void {
  try {
    fs.unlinkSync(file)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

export function isMissing(error: unknown): boolean {
  return isCode(error, 'ENOENT')
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
