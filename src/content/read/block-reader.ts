// Reads remote documents by block: from memory, then from disk, then through the presigned URL. Puts the parts of read/
// together, and keeps the list of versions in use; the blocks of one version are in version-blocks.ts.

import type { Disk } from '../../world/disk.ts'
import type { World } from '../../world/world.ts'
import type { Files, RemoteFile } from '../../api/types.ts'
import type { Log } from '../../log.ts'
import { backupOf, backupPathOf } from './backup-blocks.ts'
import type { Block } from '../block.ts'
import { BlockCache } from './block-cache.ts'
import { BlockReading } from './block-reading.ts'
import { DiskCache } from '../disk/disk-cache.ts'
import type { PinnedPlace } from '../disk/disk-cache.ts'
import { copyOut } from './copy-out.ts'
import type { DownloadSources } from './download-attempts.ts'
import { DownloadQueue } from './download-queue.ts'
import { blockCount, blockSizeBytes } from '../extent.ts'
import { fetchWhole } from './fetch-whole.ts'
import type { Version } from '../fingerprint.ts'
import { learnSize } from './learn-size.ts'
import { LinkEstimate } from './link-estimate.ts'
import { ReadTimeBudget } from './read-time-budget.ts'
import type { PresignedUrls } from './presigned-urls.ts'
import { ReadAheadShare } from './read-ahead-share.ts'
import { later, type FetchWholeOptions, type Reader, type Reading } from './reader.ts'
import { storedVersion } from '../disk/stored-version.ts'
import { SharedBlocks } from './shared-blocks.ts'
import { VersionBlocks, isWeak } from './version-blocks.ts'
import type { BlockEvents } from './version-blocks.ts'

export interface ReaderOptions {
  readonly files: Files
  readonly urls: PresignedUrls
  /** A folder for this project only; may be shared with other mounts of it, and deleted at any time. */
  readonly cacheDir: string
  /** Hard cap on the bytes on disk; default 5 GiB, 0 = nothing on disk. */
  readonly cacheSizeBytes?: number
  /** The store of pinned documents; absent: nothing can be pinned. */
  readonly pinned?: PinnedPlace
  /** Most bytes of blocks in memory, including those waiting to be written to disk; default 64 MiB. */
  readonly memoryBytes?: number
  /** Returns the silence since a time that counts (ms, monotonic clock). Default: all of it. */
  readonly silentMs?: (since: number) => number
  /** Called with each document whose blocks have all arrived, some of them through the network. */
  readonly onReceived?: (version: Version) => void
  readonly log: Log
  readonly world: Pick<World, 'clock' | 'chance' | 'disk'>
}

const defaultCacheSizeBytes = 5 * 1024 ** 3
const defaultMemoryBytes = 64 * 1024 ** 2
/** Part of the memory for blocks that wait to be written to disk; a slower disk keeps fewer of them. */
const backlogPart = 3 / 8
/** Part of the memory for blocks fetched ahead: they must not evict each other before they are read. */
const readAheadPart = 1 / 2
const maxPrefetchBacklog = 256
/** A document that is read here and there is fetched whole only if it takes no more than this part of the cache. */
const keptPart = 1 / 2

export function createReader(options: ReaderOptions): Reader {
  return new BlockReader(options)
}

class BlockReader implements Reader, BlockEvents {
  readonly #download: DownloadSources
  readonly #queue: DownloadQueue
  readonly #cache: BlockCache
  readonly disk: DiskCache
  readonly #files: Disk
  readonly #share: ReadAheadShare
  readonly #keepableBytes: number
  /** Versions in use, by id. */
  readonly #all = new Map<number, VersionBlocks>()
  /** Versions whose blocks a new handle joins. */
  readonly #shared = new SharedBlocks()
  readonly #closing = new AbortController()
  readonly #onReceived: (version: Version) => void
  #nextId = 1

  constructor(options: ReaderOptions) {
    const { files, urls, log, world, memoryBytes = defaultMemoryBytes, onReceived = () => {} } = options
    this.#onReceived = onReceived
    const { clock, disk } = world
    this.#queue = new DownloadQueue(clock)
    this.#files = disk
    const sizeBytes = options.cacheSizeBytes ?? defaultCacheSizeBytes
    this.#download = {
      files,
      urls,
      log,
      world,
      timeBudget: new ReadTimeBudget(clock.monotonic, options.silentMs),
      link: new LinkEstimate(),
    }
    const backlogBytes = sizeBytes > 0 ? memoryBytes * backlogPart : 0
    this.#cache = new BlockCache(memoryBytes - backlogBytes, (id) => this.#blockEvicted(id))
    this.#share = new ReadAheadShare(memoryBytes * readAheadPart)
    const { cacheDir: dir, pinned } = options
    this.disk = new DiskCache({
      dir,
      sizeBytes,
      backlogBytes,
      log,
      clock,
      disk,
      onRoom: () => this.#resume(),
      ...(pinned === undefined ? {} : { pinned }),
    })
    this.#keepableBytes = Math.max(sizeBytes, this.#cache.sizeBytes) * keptPart
  }

  open(version: Version): Reading {
    return version.size === undefined ? this.#openUnsized(version) : this.#openSized(version, version.size)
  }

  learnSize(version: Version, signal: AbortSignal): Promise<number> {
    return learnSize(this.#download, version, signal)
  }

  async copyTo(
    version: Version,
    fd: number,
    { length, signal }: { length?: number; signal: AbortSignal },
  ): Promise<number> {
    const sizeBytes = version.size ?? (await this.learnSize(version, signal))
    const reading = this.#openSized(version, sizeBytes)
    try {
      return await copyOut(
        reading,
        Math.min(length ?? sizeBytes, sizeBytes),
        { fd, disk: this.#files },
        signal,
      )
    } finally {
      reading.close()
    }
  }

  async fetchWhole(version: Version, options: FetchWholeOptions): Promise<number> {
    const sources = { download: this.#download, queue: this.#queue, disk: this.disk }
    const signal = AbortSignal.any([options.signal, this.#closing.signal])
    const fetchedBytes = await fetchWhole(sources, version, { ...options, signal })
    if (fetchedBytes > 0) this.#onReceived(version)
    return fetchedBytes
  }

  looked(path: string, record: RemoteFile): void {
    const { urls, world } = this.#download
    urls.remember(path, record, world.clock.steady())
  }

  forgetMemory(): void {
    this.#cache.clear()
  }

  prefetch(version: Version, bytes: number): void {
    const { size } = version
    if (size === undefined || size === 0 || isWeak(version)) return
    if (this.#queue.backgroundBacklog >= maxPrefetchBacklog) return
    this.#blocksOf(version, size).request(
      { first: 0, end: blockCount(Math.min(size, bytes)) },
      'prefetch',
      prefetcher,
    )
  }

  async adopt(version: Version, file: string): Promise<void> {
    if (version.size === undefined || isWeak(version)) await this.#files.unlink(file)
    else {
      this.#forgetMemoryOf(version.path)
      await this.disk.adopt(version, version.size, file)
    }
  }

  keep(version: Version, bytes: Uint8Array): void {
    if (version.size !== bytes.length || bytes.length === 0 || isWeak(version)) return
    // Two saves of one length within a second may have the same fingerprint: the last one is what the service has.
    void this.forget(version.path)
    const blocks = this.#blocksOf(version, bytes.length)
    // As from the network, so that the disk cache takes it, too.
    blocks.arrived(0, [bytes], 'network')
    this.disk.keep(version, bytes)
    if (blocks.isIdle) this.becameIdle(blocks)
  }

  moved(from: Version, to: Version): void {
    const blocks = this.#shared.get(from)
    const size = blocks?.sizeBytes ?? from.size
    // The earlier version at that path may have the same fingerprint, and the new content may be here only in part.
    void this.forget(to.path)
    if (size !== undefined && !isWeak(from) && !isWeak(to)) {
      this.disk.move(storedVersion(from, size), storedVersion(to, size))
    }
    if (blocks === undefined) return
    this.#shared.delete(blocks)
    blocks.moveTo(to)
    if (isWeak(to)) this.#unshare(blocks)
    else this.#shared.set(blocks)
  }

  backUpBlocks(version: Version): void {
    const { size } = version
    if (size === undefined || isWeak(version)) return
    const backup = backupOf(version)
    this.disk.move(storedVersion(version, size), storedVersion(backup, size), { isBrief: true })
    // Blocks in memory stay with the handles on the version, and are copied to the backup.
    const blocks = this.#shared.get(version)
    if (blocks === undefined) return
    const kept = this.#blocksOf(backup, size)
    for (let block = 0, end = blockCount(size); block < end; block++) {
      const bytes = blocks.peek(block)
      if (bytes !== undefined) kept.arrived(block, bytes, 'disk')
    }
    if (kept.isIdle) this.becameIdle(kept)
  }

  async copyBackup(version: Version, fd: number): Promise<boolean> {
    let at = 0
    return this.readHere(backupOf(version), async (bytes) => {
      await this.#files.writev(fd, [...bytes], at)
      at += blockSizeBytes
    })
  }

  async readHere(version: Version, take: (bytes: Block) => Promise<void> | void): Promise<boolean> {
    const { size } = version
    if (size === undefined || isWeak(version)) return false
    const stored = storedVersion(version, size)
    const blocks = this.#shared.get(version)
    for (let first = 0, end = blockCount(size); first < end; first++) {
      const run = { first, end: first + 1 }
      let bytes = blocks?.peek(first)
      if (bytes === undefined) {
        await this.disk.locate(stored, run)
        bytes = blocks?.peek(first) ?? (await this.disk.read(stored, run))[0]?.bytes
      }
      if (bytes === undefined) return false
      await take(bytes)
    }
    return true
  }

  dropBackup(path: string): void {
    void this.forget(backupPathOf(path))
  }

  forget(path: string, options?: { isSure?: boolean }): Promise<void> {
    this.#forgetMemoryOf(path)
    return this.disk.forget(path, options)
  }

  #forgetMemoryOf(path: string): void {
    for (const blocks of this.#shared.at(path)) this.#unshare(blocks)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    for (const blocks of this.#all.values()) blocks.abort()
    await this.disk.close()
    this.#cache.clear()
  }

  becameIdle(blocks: VersionBlocks): void {
    this.#all.delete(blocks.id)
    this.#shared.delete(blocks)
  }

  becameStale(blocks: VersionBlocks): void {
    const { version } = blocks
    this.#unshare(blocks)
    void this.disk.forget(version.path)
    const { urls, log } = this.#download
    urls.forget(version.path)
    // Fetches the record, so that the tree learns which version is there now.
    urls.get(version, this.#closing.signal).catch((error: unknown) => {
      log.debug({ path: version.path, error: String(error) }, 'a document was changed under its reader')
    })
  }

  allArrived({ version, sizeBytes }: VersionBlocks): void {
    this.#onReceived({ ...version, size: sizeBytes })
  }

  #openSized(version: Version, sizeBytes: number): Reading {
    const blocks = this.#blocksOf(version, sizeBytes)
    blocks.readings++
    return new BlockReading(blocks, this.#share, () => {
      blocks.readings--
      if (blocks.readings === 0) blocks.lastHandleClosed()
      if (blocks.readings === 0 && !blocks.isShared) blocks.drop()
      if (blocks.isIdle) this.becameIdle(blocks)
    })
  }

  /** Opens a version of unknown size, which it learns at the first read. */
  #openUnsized(version: Version): Reading {
    let opening: Promise<Reading> | undefined
    let reading: Reading | undefined
    let isClosed = false
    const learn = async (): Promise<Reading> => {
      const learned = this.#openSized(version, await this.learnSize(version, this.#closing.signal))
      if (isClosed) learned.close()
      reading = learned
      return learned
    }
    return {
      get furthest() {
        return reading?.furthest ?? Number.POSITIVE_INFINITY
      },
      read: (offset, length, reader) => {
        if (reading !== undefined) return reading.read(offset, length, reader)
        opening ??= learn().catch((error: unknown) => {
          opening = undefined
          throw error
        })
        return opening.then((reading) => reading.read(offset, length, later(reader)))
      },
      close() {
        isClosed = true
        reading?.close()
      },
    }
  }

  #blocksOf(version: Version, sizeBytes: number): VersionBlocks {
    const known = this.#shared.get(version)
    if (known !== undefined && known.sizeBytes === sizeBytes) return known
    const sources = {
      download: this.#download,
      queue: this.#queue,
      cache: this.#cache,
      store: this.disk,
      keepableBytes: this.#keepableBytes,
    }
    const blocks = new VersionBlocks(this.#nextId++, version, sizeBytes, sources, this)
    this.#all.set(blocks.id, blocks)
    if (blocks.isShared) this.#shared.set(blocks)
    return blocks
  }

  /** Lets no new handle join these blocks; handles that have them go on. */
  #unshare(blocks: VersionBlocks): void {
    blocks.isShared = false
    this.#shared.delete(blocks)
    if (blocks.readings === 0) blocks.drop()
  }

  /** Lets fetches go on that the slow disk held back. */
  #resume(): void {
    for (const blocks of this.#all.values()) blocks.resume()
  }

  /** Called when a block of the version with this id was removed from memory. */
  #blockEvicted(id: number): void {
    const blocks = this.#all.get(id)
    if (blocks === undefined) return
    blocks.resident--
    if (blocks.isIdle) this.becameIdle(blocks)
  }
}

/** Owner of prefetched blocks, which belong to no handle: their fetches are never aborted as unwanted. */
const prefetcher = { wantedEnd: Number.POSITIVE_INFINITY }
