// Versions that programs here replaced or deleted, kept for a while on this machine, so that they can be brought back. Packs are
// appended to, and survive a power cut after `durable`; packs go whole, oldest first. Best effort: where the disk
// refuses, a version is not kept, and nobody's save or delete waits for that.

import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import { ErrnoError } from '../../errno-error.ts'
import type { Log } from '../../log.ts'
import type { World } from '../../world/world.ts'
import type { Block } from '../block.ts'
import { mayComeAgain, versionOf } from '../fingerprint.ts'
import { GroupSync } from '../spool/group-sync.ts'
import { namesIn } from '../spool/names-in.ts'
import { makePrivateFolder } from '../spool/private-file.ts'
import { syncFolder } from '../spool/spool.ts'
import { linesOf } from './pack.ts'
import { encoded, type Going, type Line, longestLineBytes, type Missing, type UndoRecord } from './record.ts'

export interface UndoStoreOptions {
  readonly dir: string
  /** Hard cap on the bytes of all files; 0 keeps nothing, and removes what an earlier run kept. */
  readonly sizeBytes: number
  /** 0 keeps nothing, and removes what an earlier run kept. */
  readonly ageMs: number
  readonly world: Pick<World, 'clock' | 'disk'>
  readonly log: Log
}

/** A version that went. */
export interface FormerVersion extends UndoRecord {
  /** The same for as long as it is kept. */
  readonly id: string
  readonly isRestored: boolean
}

/** Hands all bytes of a version to `take`, in order. False where they are not all to be had. */
export type ReadAll = (take: (bytes: Block) => Promise<void> | void) => Promise<boolean>

interface Pack {
  readonly name: string
  /** Of the pack and of the files it names. */
  bytes: number
  /** When its last line was written (epoch ms). */
  endedAt: number
}

interface OpenPack extends Pack {
  readonly fd: number
  position: number
}

/** Larger content gets a file of its own. */
const inlineBytes = 64 * 1024
/** One pack holds this part of everything, in bytes and in time: what goes first is hardly more than has to. */
const packPart = 1 / 16
/** One version takes no more than this part of the room. */
const versionPart = 1 / 2
const diskBlockBytes = 4096
const readBytes = 256 * 1024
const packSuffix = '.pack'
/** Begins the name of a file that no pack names yet. */
const unnamed = 'unnamed-'

export class UndoStore {
  readonly #options: UndoStoreOptions
  readonly #packs: Pack[] = []
  readonly #ready: Promise<void>
  readonly #sync: GroupSync
  #open: OpenPack | undefined
  /** Fingerprints of the versions kept last in this run, by path. */
  readonly #latest = new LRUCache<string, string>({ max: 1000 })
  /** Bytes of the files that no pack names yet. */
  #unnamedBytes = 0
  /** Number of versions kept in this run, and how many of them survive a power cut. */
  #kept = 0
  #synced = 0
  /** A name was made since the folder was synced. */
  #isFolderDirty = false
  #files = 0

  constructor(options: UndoStoreOptions) {
    this.#options = options
    this.#sync = new GroupSync(() => this.#syncNow())
    this.#ready = this.#find().catch((error: unknown) => this.#warn(error))
  }

  /** False: nothing is kept. */
  get isOn(): boolean {
    const { sizeBytes, ageMs } = this.#options
    return sizeBytes > 0 && ageMs > 0
  }

  get bytes(): number {
    return this.#packs.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /**
   * Keeps a version that is about to go, from the first source that has all of it, or a line that says why it is not kept. Never
   * rejects. Called again for the same version, because the service did not take the change, it keeps nothing more.
   */
  async keep(going: Going, ...sources: readonly ReadAll[]): Promise<void> {
    if (!this.isOn) return
    const { size } = versionOf(going.path, going.fingerprint)
    if (size === 0 || this.#latest.get(going.path) === going.fingerprint) return
    await this.#ready
    const record = { ...going, at: this.#options.world.clock.wall(), size }
    const lacking = (missing: Missing): void => this.#append({ ...record, missing })
    try {
      if (size === undefined) return lacking('not here')
      if (size > this.#options.sizeBytes * versionPart) return lacking('too large')
      const keepFrom = (source: ReadAll): Promise<boolean> =>
        size <= inlineBytes ? this.#keepInline(record, size, source) : this.#keepFile(record, size, source)
      for (const source of sources) {
        if (!(await keepFrom(source))) continue
        this.#kept++
        if (!mayComeAgain(going.fingerprint)) this.#latest.set(going.path, going.fingerprint)
        return
      }
      lacking('not here')
    } catch (error) {
      this.#warn(error)
      try {
        lacking('no room')
      } catch {}
    }
  }

  /** Resolves when all that was kept so far survives a power cut. Never rejects. */
  async durable(): Promise<void> {
    if (this.#synced === this.#kept) return
    await this.#sync.run().catch((error: unknown) => {
      // Bytes of a failed sync are lost for good: nothing more is written behind them.
      this.#closePack()
      this.#warn(error)
    })
  }

  /** Everything that went in the time that is kept, latest first; once, if a change was tried again. */
  async list(): Promise<FormerVersion[]> {
    await this.#ready
    this.#expire()
    const found: FormerVersion[] = []
    const restored = new Set<string>()
    const names = this.#packs.map(({ name }) => name)
    for (const name of names)
      for await (const { line, at, bytesAt } of this.#linesOf(name)) {
        if ('restored' in line) restored.add(line.restored)
        else found.push({ ...line, id: `${name}:${at}:${bytesAt}`, isRestored: false })
      }
    const keyOf = ({ path, fingerprint }: Going): string => `${fingerprint} ${path}`
    const latest = new Map(found.map((version) => [keyOf(version), version.id]))
    return found
      .filter((version) => version.missing === undefined || latest.get(keyOf(version)) === version.id)
      .map((version) => ({ ...version, isRestored: restored.has(version.id) }))
      .reverse()
  }

  /** The bytes of a version. Throws EIO at the end where they are not what was kept; ENODATA where none are; ENOENT. */
  async *read({ id, size = 0, file, crc, missing, path }: FormerVersion): AsyncGenerator<Uint8Array> {
    if (missing !== undefined) throw new ErrnoError('ENODATA', `the bytes of ${path} were not kept`)
    const { disk } = this.#options.world
    const [pack = '', , bytesAt] = id.split(':')
    const opened = await disk.open(this.#pathOf(file ?? pack), 'r')
    const end = file === undefined ? Number(bytesAt) + size : size
    let sum = 0
    try {
      for (let at = end - size; at < end;) {
        const buffer = Buffer.allocUnsafe(Math.min(readBytes, end - at))
        const { bytesRead } = await opened.read(buffer, 0, buffer.length, at)
        if (bytesRead === 0) break
        const bytes = buffer.subarray(0, bytesRead)
        sum = crc32(bytes, sum)
        at += bytesRead
        yield bytes
      }
    } finally {
      await opened.close()
    }
    if (sum !== crc) throw new ErrnoError('EIO', `what was kept of ${path} is damaged on this machine`)
  }

  /** Somebody brought these back: they are no longer in the trash. */
  async restored(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.#append({ restored: id })
    this.#latest.clear()
    this.#kept++
    await this.durable()
  }

  /** Gives room on the disk back, oldest first. Answers how many bytes that were, 0 where nothing is left. */
  async giveUp(bytes: number): Promise<number> {
    await this.#ready
    const before = this.bytes
    while (this.#packs.length > 0 && before - this.bytes < bytes) this.#dropOldest()
    this.#latest.clear()
    return before - this.bytes
  }

  async close(): Promise<void> {
    await this.#ready
    await this.durable()
    this.#closePack()
  }

  async #find(): Promise<void> {
    const { dir, world } = this.#options
    const { disk } = world
    const names = namesIn(dir, disk).sort()
    for (const name of names) if (name.startsWith(unnamed)) disk.unlinkSync(join(dir, name))
    for (const name of names) {
      if (!name.endsWith(packSuffix)) continue
      let { size: bytes, mtimeMs } = await disk.stat(this.#pathOf(name))
      bytes = onDisk(bytes)
      for (const file of names)
        if (file.startsWith(`${name}.`)) bytes += onDisk((await disk.stat(this.#pathOf(file))).size)
      this.#packs.push({ name, bytes, endedAt: mtimeMs })
    }
    if (!this.isOn) while (this.#packs.length > 0) this.#dropOldest()
    this.#expire()
  }

  async *#linesOf(name: string): ReturnType<typeof linesOf> {
    try {
      yield* linesOf(this.#options.world.disk, this.#pathOf(name))
    } catch (error) {
      // It went while it was read, or the disk does not read it: the others are told.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#warn(error)
    }
  }

  async #keepInline(record: UndoRecord, size: number, readAll: ReadAll): Promise<boolean> {
    const pieces: Uint8Array[] = []
    if (!(await readAll((bytes) => void pieces.push(...bytes)))) return false
    const bytes = Buffer.concat(pieces)
    if (bytes.length !== size) return false
    this.#append({ ...record, crc: crc32(bytes) }, bytes)
    return true
  }

  async #keepFile(record: UndoRecord, size: number, readAll: ReadAll): Promise<boolean> {
    const room = size + longestLineBytes
    this.#makeRoom(room)
    this.#unnamedBytes += onDisk(room)
    const path = this.#pathOf(`${unnamed}${this.#files++}`)
    let crc: number | undefined
    try {
      crc = await this.#writeFile(path, size, readAll)
    } finally {
      this.#unnamedBytes -= onDisk(room)
    }
    if (crc === undefined) return false
    this.#makeRoom(room)
    const pack = this.#packToWrite()
    const name = `${pack.name}.${this.#files++}`
    this.#options.world.disk.renameSync(path, this.#pathOf(name))
    this.#isFolderDirty = true
    pack.bytes += onDisk(size)
    // In the same pack: the file goes with it.
    this.#write(pack, encoded({ ...record, crc, file: name }))
    return true
  }

  /** Writes the version into a file, and answers its checksum; undefined, and no file, where the source has not all of it. */
  async #writeFile(path: string, size: number, readAll: ReadAll): Promise<number | undefined> {
    const { disk } = this.#options.world
    makePrivateFolder(this.#options.dir, disk)
    const file = await disk.open(path, 'wx', 0o600)
    let [crc, written] = [0, 0]
    let isWhole = false
    try {
      isWhole = await readAll(async (pieces) => {
        for (const piece of pieces) crc = crc32(piece, crc)
        const { bytesWritten } = await file.writev(pieces, written)
        written += bytesWritten
      })
      if (isWhole && written === size) await file.sync()
    } finally {
      await file.close()
      if (!isWhole || written !== size) disk.unlinkSync(path)
    }
    if (!isWhole) return undefined
    if (written < size) throw new ErrnoError('ENOSPC', 'the disk took only a part')
    return crc
  }

  /** Throws the system's errors. */
  #append(line: Line, bytes: Uint8Array = Buffer.alloc(0)): void {
    const written = Buffer.concat([encoded(line), bytes])
    this.#makeRoom(written.length)
    this.#write(this.#packToWrite(), written)
  }

  #write(pack: OpenPack, written: Uint8Array): void {
    const { clock, disk } = this.#options.world
    const count = disk.writeSync(pack.fd, written, 0, written.length, pack.position)
    if (count < written.length) {
      this.#closePack()
      throw new ErrnoError('ENOSPC', 'the disk took only a part')
    }
    pack.bytes += onDisk(pack.position + count) - onDisk(pack.position)
    pack.position += count
    pack.endedAt = clock.wall()
  }

  /** The pack that is written now, or a new one. */
  #packToWrite(): OpenPack {
    const { dir, sizeBytes, world } = this.#options
    const now = world.clock.wall()
    const open = this.#open
    if (open !== undefined) {
      const isOld = now - Number.parseInt(open.name, 10) > this.#options.ageMs * packPart
      if (!isOld && open.bytes < sizeBytes * packPart) return open
      this.#closePack()
    }
    // After the latest, whatever the clock says now.
    const latest = Number.parseInt(this.#packs.at(-1)?.name ?? '0', 10)
    const name = `${String(Math.max(latest + 1, Math.floor(now))).padStart(15, '0')}${packSuffix}`
    makePrivateFolder(dir, world.disk)
    const fd = world.disk.openSync(this.#pathOf(name), 'wx', 0o600)
    this.#isFolderDirty = true
    const pack = { name, fd, bytes: 0, position: 0, endedAt: now }
    this.#packs.push(pack)
    this.#open = pack
    return pack
  }

  #closePack(): void {
    const pack = this.#open
    this.#open = undefined
    if (pack === undefined) return
    const { disk } = this.#options.world
    try {
      // No later sync is of this file.
      disk.fsyncSync(pack.fd)
    } catch (error) {
      this.#warn(error)
    }
    disk.closeSync(pack.fd)
  }

  async #syncNow(): Promise<void> {
    const { dir, world } = this.#options
    const kept = this.#kept
    if (this.#isFolderDirty) {
      this.#isFolderDirty = false
      await syncFolder(dir, world.disk)
    }
    if (this.#open !== undefined) await world.disk.fdatasync(this.#open.fd)
    this.#synced = kept
  }

  /** Throws ENOSPC where others that are being written leave no room. */
  #makeRoom(bytes: number): void {
    this.#expire()
    const room = this.#options.sizeBytes - this.#unnamedBytes - onDisk(bytes) - diskBlockBytes
    if (room < 0) throw new ErrnoError('ENOSPC', 'the room for undo is taken by what is being kept')
    while (this.#packs.length > 0 && this.bytes > room) this.#dropOldest()
  }

  #expire(): void {
    const before = this.#options.world.clock.wall() - this.#options.ageMs
    while ((this.#packs[0]?.endedAt ?? Infinity) < before) this.#dropOldest()
  }

  #dropOldest(): void {
    const pack = this.#packs.shift()
    if (pack === undefined) return
    if (pack === this.#open) this.#closePack()
    const { dir, world } = this.#options
    for (const name of namesIn(dir, world.disk)) {
      if (!name.startsWith(pack.name)) continue
      try {
        world.disk.unlinkSync(this.#pathOf(name))
      } catch (error) {
        this.#warn(error)
      }
    }
  }

  #pathOf(name: string): string {
    return join(this.#options.dir, name)
  }

  #warn(error: unknown): void {
    this.#options.log.warn({ error: String(error) }, 'the versions kept for undo: the disk refused')
  }
}

function onDisk(bytes: number): number {
  return Math.ceil(bytes / diskBlockBytes) * diskBlockBytes
}
