// The block store: cached blocks on disk, kept across restarts and crashes, bounded in bytes, shared by all mounts of a project.
// The folder may be deleted at any time: blocks that cannot be read are absent, and blocks that cannot be written are not kept.
// All changes of the folder are made here, one after another; readers use cached-ranges.ts, and do not wait for them.

import type { Disk } from '../../world/disk.ts'
import { sleep, type Clock } from '../../world/clock.ts'
import { join } from 'node:path'
import { BlockIndex } from './block-index.ts'
import { CachedRanges } from './cached-ranges.ts'
import { blockCount } from '../extent.ts'
import { allocated, fullBytesOf, overheadBytes } from './disk-bytes.ts'
import { takeOverFormerFormat } from './former-formats.ts'
import { RecentWrites } from './recent-writes.ts'
import { SerialQueue } from './serial-queue.ts'
import { OpenSegments } from './open-segments.ts'
import { PastPages } from './past-pages.ts'
import type { Segment } from './segment.ts'
import { entryBytes } from './segment-table.ts'
import type { StoredBlock } from './segment-table.ts'
import {
  pathKeyInName,
  pathKeyOf,
  renamed,
  segmentIdIn,
  segmentName,
  segmentNumber,
  versionKeyIn,
} from './stored-version.ts'
import type { StoredVersion } from './stored-version.ts'
import { IdleTimer } from './idle-timer.ts'
import { WriteBacklog } from './write-backlog.ts'
import type { Log } from '../../log.ts'

export interface BlockStoreOptions {
  readonly dir: string
  /** Hard cap on the bytes of all files. */
  readonly sizeBytes: number
  /** Most memory for blocks that wait to be written (bytes); further blocks are not kept. */
  readonly backlogBytes: number
  readonly log: Log
  readonly clock: Clock
  readonly disk: Disk
  /** Called when there is space again for blocks that wait to be written. */
  readonly onRoom: () => void
  /** False: nothing is evicted, and blocks that do not fit are not kept. Default true: the least recently used are evicted. */
  readonly evicts?: boolean
}

/** The part of a version that is in a store. */
export type Held = 'whole' | 'part' | 'nothing'

/** Amount of blocks in a folder. */
export interface StoredAmount {
  /** On disk. */
  readonly bytes: number
  readonly documents: number
}

/** Folder of this file format: another layout gets another folder. */
const formatFolder = 'blocks-2'
/** After this part of the cap was written here, the folder is scanned again for other processes' files. */
const rescanPart = 1 / 16

export class BlockStore {
  /** The blocks on disk, for readers. */
  readonly ranges: CachedRanges
  readonly #options: BlockStoreOptions
  readonly #dir: string
  readonly #index: BlockIndex
  readonly #segments: OpenSegments
  readonly #backlog: WriteBacklog
  readonly #pastPages: PastPages
  readonly #writeTimer: IdleTimer
  /** Keys of paths whose files are about to be removed, with the number of removals: they count as absent. */
  readonly #doomed = new Map<string, number>()
  /** Keys of paths with a file that could not be removed in this run. */
  readonly #stuck = new Set<string>()
  /** Renames under way, by the key of the version that the blocks get. */
  readonly #arriving = new Map<string, Promise<void>>()
  /** Writes of checksums under way, for files that were moved in (see `#trust`). */
  readonly #sealing = new Set<Promise<void>>()
  readonly #written: RecentWrites
  readonly #work: SerialQueue
  #writtenSinceScan = 0
  #isClosed = false

  constructor(options: BlockStoreOptions) {
    this.#options = options
    this.#dir = join(options.dir, formatFolder)
    this.#work = new SerialQueue({ dir: this.#dir, log: options.log, now: options.clock.monotonic })
    this.#index = new BlockIndex(this.#dir, {
      disk: options.disk,
      capBytes: options.sizeBytes,
      evicts: options.evicts ?? true,
      onEvict: (name) => this.#segments.close(name),
    })
    this.#written = new RecentWrites(options.clock)
    this.#segments = new OpenSegments(this.#index, options)
    this.#backlog = new WriteBacklog(options.backlogBytes)
    this.#pastPages = new PastPages(options)
    this.#writeTimer = new IdleTimer(options.clock, (name) => {
      void this.#work.run('write blocks', () => this.#writeBacklog(name))
    })
    this.ranges = new CachedRanges({
      ...options,
      index: this.#index,
      segments: this.#segments,
      isGone: ({ pathKey }) => this.#isClosed || this.#doomed.has(pathKey),
      arriving: ({ key }) => this.#arriving.get(key),
    })
    void this.#work.run('read the cache folder', () => this.#prepare())
  }

  /** True where a block written now would be kept, because the disk keeps up. */
  get hasRoom(): boolean {
    return !this.#backlog.isHalfFull
  }

  /** Queues a block that was read to be written, if there is space and time for it (`store` must keep its blocks). */
  write(version: StoredVersion, block: StoredBlock): void {
    if (this.#isClosed || this.#work.isPaused) return
    this.#writeTimer.add(this.#backlog.add(version, block))
    if (this.#backlog.isHalfFull) this.#writeTimer.takeAll()
  }

  /** Writes blocks of one segment now. False where there is no space for them, or the disk fails. */
  async store(version: StoredVersion, blocks: readonly StoredBlock[]): Promise<boolean> {
    const [first] = blocks
    if (first === undefined) return true
    // Checked before the work is queued: blocks that came before the close are kept.
    if (this.#isClosed) return false
    let isKept = false
    await this.#work.run('write blocks', async () => {
      if (this.#work.isPaused) return
      isKept = await this.#writeBlocks(version, segmentName(version, segmentNumber(first.block)), blocks)
    })
    return isKept
  }

  /**
   * Removes all versions of a path: none is read from now on. Resolves when their known files are deleted. With `isSure`, no power
   * cut can bring back a file that could be taken for the next version's. A file that cannot be deleted is not read in this run,
   * and `isSure` then waits until the clock's second is over: the next version gets another `modified_at`, and so another key.
   */
  async forget(path: string, { isSure = false }: { isSure?: boolean } = {}): Promise<void> {
    const pathKey = pathKeyOf(path)
    const isDoubtful = isSure ? this.#written.sinceNow(pathKey) : (): boolean => false
    this.#backlog.drop(pathKey)
    this.#doomed.set(pathKey, (this.#doomed.get(pathKey) ?? 0) + 1)
    const mayBeHere = !this.#index.isComplete || this.#index.namesOf(pathKey).length > 0 || isDoubtful()
    const removed = this.#work.run('remove blocks', async () => {
      const wasStuck = this.#stuck.has(pathKey)
      this.#stuck.add(pathKey)
      await this.#prepare()
      await this.#removeAll(pathKey)
      if (isDoubtful()) await this.#index.syncRemoved(pathKey)
      if (!wasStuck) this.#stuck.delete(pathKey)
      const left = (this.#doomed.get(pathKey) ?? 1) - 1
      if (left === 0) this.#doomed.delete(pathKey)
      else this.#doomed.set(pathKey, left)
    })
    if (!mayBeHere) return
    await removed
    if (isDoubtful() && this.#stuck.has(pathKey))
      await sleep(this.#options.clock, this.#written.restMs(pathKey), { idle: true })
  }

  /**
   * Gives a version's blocks to another version. `isBrief`: it will soon be moved again, so that
   * queued blocks need not be written soon.
   */
  move(from: StoredVersion, to: StoredVersion, { isBrief = false }: { isBrief?: boolean } = {}): void {
    // Queued blocks get the new name at once: the older path may be forgotten before they are written.
    const waiting = this.#backlog.move(from, to)
    const renaming = this.#work.run('rename blocks', async () => {
      for (const name of this.#index.namesOf(from.pathKey)) {
        if (!name.startsWith(from.key)) continue
        const newName = renamed(name, to)
        const isTrusted = this.#segments.isTrusted(name)
        this.#segments.close(name)
        this.#segments.close(newName)
        await this.#segments.inShard(newName, (path) =>
          this.#options.disk.rename(this.#index.pathOf(name), path),
        )
        this.#index.rename(name, newName)
        this.#written.add(newName)
        const segment = await this.#segments.find(to, segmentIdIn(newName))
        // The checksums of a trusted segment may not be on disk yet.
        if (isTrusted && segment !== undefined) this.#trust(newName, segment)
        else await segment?.forgetEtags()
      }
    })
    const arriving = renaming.then(() => {
      if (this.#arriving.get(to.key) === arriving) this.#arriving.delete(to.key)
    })
    this.#arriving.set(to.key, arriving)
    for (const name of waiting) this.#writeTimer.add(name)
    if (!isBrief) this.#writeTimer.takeAll()
  }

  /** Moves in a file that has exactly the version's bytes. False where it is not kept: then `file` is still there. */
  async adopt(version: StoredVersion, file: string): Promise<boolean> {
    let isKept = false
    await this.#work.run('take over a file', async () => {
      await this.#prepare()
      await this.#removeAll(version.pathKey)
      const { size } = await this.#options.disk.stat(file)
      const name = segmentName(version, 'whole')
      const bytes = allocated(size + blockCount(size) * entryBytes)
      if (size !== version.sizeBytes || size === 0 || !(await this.#index.reserve(name, bytes))) return
      await this.#moveIn(file, name)
      this.#written.add(name)
      const segment = await this.#segments.find(version, 'whole')
      if (segment !== undefined) this.#trust(name, segment)
      isKept = true
    })
    return isKept
  }

  /** Removes the files of all versions that are not wanted, such as unpinned ones; moves them to `heir` where that has space. */
  async keepOnly(
    isWanted: (pathKey: string, versionKey: string, file: string) => boolean,
    heir: BlockStore | undefined,
  ): Promise<void> {
    await this.#work.run('give blocks away', async () => {
      await this.#prepare()
      for (const name of this.#index.names()) {
        if (isWanted(pathKeyInName(name) ?? '', versionKeyIn(name), name)) continue
        this.#segments.close(name)
        await heir?.inherit(name, this.#index.pathOf(name))
        await this.#index.remove(name)
      }
    })
  }

  /** Names of the files that are here now. */
  async files(): Promise<ReadonlySet<string>> {
    await this.#work.run('read the cache folder', () => this.#prepare())
    return new Set(this.#index.names())
  }

  /** Checks that the files still exist, since a cache folder may be deleted at any time. True where one was missing. */
  async noticeMissing(): Promise<boolean> {
    let missing: readonly string[] = []
    await this.#work.run('look at the cache folder', async () => {
      if (!this.#index.isComplete) return
      missing = await this.#index.forgetMissing()
      for (const name of missing) this.#segments.close(name)
    })
    return missing.length > 0
  }

  /** Moves a segment's file in from another store, if there is space for it. */
  async inherit(name: string, file: string): Promise<void> {
    await this.#work.run('take blocks over', async () => {
      await this.#prepare()
      const { blocks } = await this.#options.disk.stat(file)
      if (this.#index.has(name) === true || !(await this.#index.reserve(name, blocks * 512))) return
      await this.#moveIn(file, name)
      this.#written.add(name)
    })
  }

  /**
   * Returns which part of a version is here, by the size of its files on disk, which are not opened and do not count as used.
   * If it is 'whole', the last page may be missing all the same.
   */
  held(version: StoredVersion): Held {
    if (this.#isClosed || this.#doomed.has(version.pathKey)) return 'nothing'
    const names = this.#index.namesOf(version.pathKey).filter((name) => versionKeyIn(name) === version.key)
    if (names.length === 0) return 'nothing'
    if (names.some((name) => segmentIdIn(name) === 'whole')) return 'whole'
    const bytes = names.reduce((sum, name) => sum + this.#index.bytesOf(name), 0)
    return bytes >= fullBytesOf(version.sizeBytes) ? 'whole' : 'part'
  }

  /** Bytes on disk, as far as the folder has been read. */
  get bytes(): number {
    return this.#index.totalBytes
  }

  /** Frees space on the disk, the least recently used files first. Returns the bytes freed, 0 if the store is empty. */
  async giveUp(bytes: number): Promise<number> {
    let freed = 0
    await this.#work.run('give room back', async () => {
      await this.#prepare()
      freed = await this.#index.evict(bytes)
    })
    return freed
  }

  /** Removes everything. Blocks that are still read are fetched again. */
  async clear(): Promise<void> {
    this.#backlog.clear()
    await this.keepOnly(() => false, undefined)
  }

  /** Amount on disk now. */
  async amount(): Promise<StoredAmount> {
    await this.#work.run('read the cache folder', () => this.#prepare())
    return { bytes: this.#index.totalBytes, documents: this.#index.documentCount }
  }

  /** Writes the queued blocks and closes all files. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#writeTimer.takeAll()
    await this.#work.over()
    await Promise.all(this.#sealing)
    this.#segments.closeAll()
  }

  /** Trusts a segment until its checksums are on disk, which nothing waits for; after a crash before that, it counts as absent. */
  #trust(name: string, segment: Segment): void {
    segment.trust()
    const sealing = segment
      .seal()
      .catch((error: unknown) => {
        this.#options.log.debug(
          { error: String(error) },
          'a file taken over is fetched again when it is read',
        )
        // A segment that will be absent after the next start must not be reported as stored.
        this.#segments.close(name)
      })
      .finally(() => this.#sealing.delete(sealing))
    this.#sealing.add(sealing)
  }

  /** Creates and reads the folder, unless that was done before. */
  async #prepare(): Promise<void> {
    if (this.#index.isComplete) return
    const { disk, log, dir } = this.#options
    await disk.mkdir(this.#dir, { recursive: true, mode: 0o700 })
    await takeOverFormerFormat({ disk, log, dir, to: this.#dir })
    await this.#index.scan()
  }

  async #writeBacklog(name: string): Promise<void> {
    const waiting = this.#backlog.take(name)
    if (waiting === undefined) return
    try {
      if (!this.#work.isPaused) await this.#writeBlocks(waiting.version, name, waiting.blocks)
    } finally {
      this.#backlog.written(waiting)
      if (this.hasRoom) this.#options.onRoom()
    }
  }

  /** Writes blocks of one file. False where there is no space. */
  async #writeBlocks(version: StoredVersion, name: string, blocks: readonly StoredBlock[]): Promise<boolean> {
    await this.#prepare()
    // A file moved in as a whole has a place for each block, and is checked first, even if some blocks are absent after damage
    // or a crash.
    const whole = await this.#segments.find(version, 'whole')
    const id = whole === undefined ? segmentIdIn(name) : 'whole'
    const existing = whole ?? (await this.#segments.find(version, id))
    const fresh = blocks.filter(({ block }) => existing?.has(block) !== true)
    if (fresh.length === 0) return true
    let bytes = existing === undefined ? overheadBytes : 0
    if (whole === undefined) for (const block of fresh) bytes += allocated(lengthOf(block))
    if (!(await this.#index.reserve(segmentName(version, id), bytes))) return false
    const segment = existing ?? (await this.#segments.make(version, id))
    this.#written.add(name)
    // Pinned blocks are reported as stored, and perhaps not read until the service is away, so their bytes are synced before
    // their table entries are written.
    const isSure = this.#options.evicts === false
    for (const run of consecutive(fresh)) {
      // Read in order by a stream, which does not come back: they are written past the kernel's page cache.
      const isPassing = run.every((stored) => stored.isPassing === true)
      await segment.write(run, { pastPages: isPassing ? this.#pastPages : undefined, isSure })
    }
    this.#writtenSinceScan += bytes
    if (this.#writtenSinceScan < this.#options.sizeBytes * rescanPart) return true
    this.#writtenSinceScan = 0
    await this.#index.scan()
    return true
  }

  /** Moves a file in, for which space has been reserved. */
  async #moveIn(file: string, name: string): Promise<void> {
    try {
      await this.#segments.inShard(name, (path) => moveFile(file, path, this.#options.disk))
    } catch (error) {
      this.#index.forget(name)
      throw error
    }
  }

  async #removeAll(pathKey: string): Promise<void> {
    for (const name of this.#index.namesOf(pathKey)) {
      this.#segments.close(name)
      await this.#index.remove(name)
    }
  }
}

function consecutive(blocks: readonly StoredBlock[]): StoredBlock[][] {
  const runs: StoredBlock[][] = []
  let next: number | undefined
  for (const stored of blocks.toSorted((a, b) => a.block - b.block)) {
    if (stored.block === next) runs.at(-1)?.push(stored)
    else runs.push([stored])
    next = stored.block + 1
  }
  return runs
}

function lengthOf({ bytes }: StoredBlock): number {
  return bytes.reduce((sum, piece) => sum + piece.length, 0)
}

async function moveFile(from: string, to: string, disk: Disk): Promise<void> {
  try {
    await disk.rename(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
    await disk.copyFile(from, to)
    await disk.unlink(from)
  }
}
