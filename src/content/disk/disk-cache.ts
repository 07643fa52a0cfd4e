// The disk cache: a bounded store of blocks that were read, and, if anything is pinned, a second store that evicts nothing
// automatically. Readers see both as one. Pinned documents are written by `store` and `adopt` only, so that they are complete
// and not just what happened to be read. The pinned store belongs to one mount: no other mount of the project may evict it.

import type { BlockRun } from '../extent.ts'
import type { Version } from '../fingerprint.ts'
import { BlockStore } from './block-store.ts'
import type { BlockStoreOptions, Held, StoredAmount } from './block-store.ts'
import type { LocatedRun } from './cached-ranges.ts'
import { unlinkIfThere } from './enoent-tolerant.ts'
import type { BlockPart, StoredPart } from './segment.ts'
import type { StoredBlock } from './segment-table.ts'
import { pathKeyOf, storedVersion } from './stored-version.ts'
import type { StoredVersion } from './stored-version.ts'

/** Settings of the pinned store. */
export interface PinnedPlace {
  /** A folder that belongs to this mount. */
  readonly dir: string
  /** Hard cap on the bytes of all its files. */
  readonly sizeBytes: number
  /** True for the path of a pinned document. */
  covers(path: string): boolean
}

export interface DiskCacheOptions extends Omit<BlockStoreOptions, 'evicts'> {
  /** Absent: nothing can be pinned. */
  readonly pinned?: PinnedPlace
}

export interface DiskAmount {
  readonly cached: StoredAmount
  /** Hard cap of the cache (bytes). */
  readonly cacheSizeBytes: number
  readonly pinned: StoredAmount
  /** Hard cap of the pinned store (bytes). */
  readonly pinSizeBytes: number
}

const nothing: StoredAmount = { bytes: 0, documents: 0 }

export class DiskCache {
  readonly #options: DiskCacheOptions
  /** The store of blocks that were read; undefined if only pinned documents are kept. */
  readonly #ordinary: BlockStore | undefined
  /** The store of pinned documents; opened when something is pinned. */
  #pinned: BlockStore | undefined
  /** Versions known to be complete in the pinned store, by path key: not checked again until a block is missing. */
  readonly #whole = new Map<string, string>()

  constructor(options: DiskCacheOptions) {
    this.#options = options
    if (options.sizeBytes > 0) this.#ordinary = new BlockStore(options)
    if (options.pinned !== undefined && options.disk.existsSync(options.pinned.dir))
      this.#openPinned(options.pinned)
  }

  /** See `CachedRanges.locate`. */
  locate(version: StoredVersion, run: BlockRun): LocatedRun | Promise<LocatedRun> {
    const ordinary = (rest: BlockRun): LocatedRun | Promise<LocatedRun> =>
      this.#ordinary?.ranges.locate(version, rest) ?? { first: rest.first, end: rest.end, isHere: false }
    const pinned = this.#pinned?.ranges.locate(version, run)
    if (pinned === undefined) return ordinary(run)
    const inEither = (located: LocatedRun): LocatedRun | Promise<LocatedRun> => {
      if (located.isHere) return located
      this.#whole.delete(version.pathKey)
      return ordinary(located)
    }
    return pinned instanceof Promise ? pinned.then(inEither) : inEither(pinned)
  }

  /** See `CachedRanges.read`. */
  async read(version: StoredVersion, run: BlockRun): Promise<StoredBlock[]> {
    const pinned = (await this.#pinned?.ranges.read(version, run)) ?? []
    return pinned.length > 0 ? pinned : ((await this.#ordinary?.ranges.read(version, run)) ?? [])
  }

  /** See `CachedRanges.readPart`. */
  async readPart(version: StoredVersion, part: BlockPart): Promise<StoredPart | undefined> {
    return (
      (await this.#pinned?.ranges.readPart(version, part)) ?? this.#ordinary?.ranges.readPart(version, part)
    )
  }

  /** See `CachedRanges.readPartNow`. */
  readPartNow(version: StoredVersion, part: BlockPart, buffer?: Uint8Array): StoredPart | undefined {
    return (
      this.#pinned?.ranges.readPartNow(version, part, buffer) ??
      this.#ordinary?.ranges.readPartNow(version, part, buffer)
    )
  }

  /** True where the disk is quick enough to read blocks when they are asked for, so that they need not be in memory before. */
  get isQuick(): boolean {
    return (this.#pinned?.ranges.isQuick ?? true) && (this.#ordinary?.ranges.isQuick ?? true)
  }

  /** Drops a block that turned out to have other content. */
  drop(version: StoredVersion, block: number): void {
    this.#pinned?.ranges.drop(version, block)
    this.#ordinary?.ranges.drop(version, block)
  }

  /** True if a block written now would be kept. */
  get hasRoom(): boolean {
    return this.#ordinary?.hasRoom ?? true
  }

  /** Queues a block that was read to be written, if there is space and time for it. */
  write(version: StoredVersion, block: StoredBlock): void {
    this.#ordinary?.write(version, block)
  }

  /** See `BlockStore.forget`. */
  async forget(path: string, options?: { isSure?: boolean }): Promise<void> {
    this.#whole.delete(pathKeyOf(path))
    await Promise.all([this.#pinned?.forget(path, options), this.#ordinary?.forget(path, options)])
  }

  /** See `BlockStore.move`. */
  move(from: StoredVersion, to: StoredVersion, options?: { isBrief?: boolean }): void {
    this.#whole.delete(from.pathKey)
    this.#pinned?.move(from, to, options)
    this.#ordinary?.move(from, to, options)
  }

  /** Moves in a file that has exactly the version's bytes, or removes it if it does not fit. */
  async adopt(version: Version, sizeBytes: number, file: string): Promise<void> {
    const stored = storedVersion(version, sizeBytes)
    const place = this.placeOf(version.path)
    // Older versions in the other store are of no use any more.
    for (const other of [this.#pinned, this.#ordinary]) if (other !== place) void other?.forget(version.path)
    if ((await place?.adopt(stored, file)) === true) return
    if (place !== this.#ordinary && (await this.#ordinary?.adopt(stored, file)) === true) return
    await unlinkIfThere(file, this.#options.disk)
  }

  /** Stores a document of one block at once, given all its bytes, if it is pinned: `write` might drop them. */
  keep(version: Version, bytes: Uint8Array): void {
    const place = this.placeOf(version.path)
    if (place === undefined || place === this.#ordinary) return
    void place.store(storedVersion(version, bytes.length), [{ block: 0, bytes: [bytes], tag: 0 }])
  }

  /** The store that keeps the whole document: the pinned one, or the cache, which may evict it. Undefined: none. */
  placeOf(path: string): BlockStore | undefined {
    const { pinned } = this.#options
    if (pinned?.covers(path) !== true) return this.#ordinary
    return this.#pinned ?? this.#openPinned(pinned)
  }

  /** The part of a version that is on disk; `isInPlace`: all of it is in the pinned store. See `BlockStore.held`. */
  held(version: Version, sizeBytes: number): { readonly held: Held; readonly isInPlace: boolean } {
    if (this.heldBytes === 0) return { held: 'nothing', isInPlace: false }
    const stored = storedVersion(version, sizeBytes)
    const pinned = this.#pinned?.held(stored) ?? 'nothing'
    if (pinned === 'whole') return { held: pinned, isInPlace: true }
    const ordinary = this.#ordinary?.held(stored) ?? 'nothing'
    return { held: ordinary === 'nothing' ? pinned : ordinary, isInPlace: false }
  }

  /** Bytes on disk, as far as the folders have been read; changes when files are added or removed. */
  get heldBytes(): number {
    return (this.#ordinary?.bytes ?? 0) + (this.#pinned?.bytes ?? 0)
  }

  /** Bytes of a version that are in its store (see `placeOf`). */
  async bytesInPlace(version: Version, sizeBytes: number): Promise<number> {
    const place = this.placeOf(version.path)
    if (place === undefined) return 0
    const stored = storedVersion(version, sizeBytes)
    if (place === this.#pinned && this.#whole.get(stored.pathKey) === stored.key) return sizeBytes
    const bytes = await place.ranges.bytes(stored)
    if (place === this.#pinned && bytes === sizeBytes && !place.ranges.isOfThisRun(stored))
      this.#whole.set(stored.pathKey, stored.key)
    return bytes
  }

  /** Names of the files in the pinned store now, for `keepPinned`. */
  async pinnedFiles(): Promise<ReadonlySet<string>> {
    return (await this.#pinned?.files()) ?? new Set()
  }

  /**
   * Keeps these versions in the pinned store. Of the `files` that were in it when the caller began (see `pinnedFiles`), those of
   * other versions of the same paths move to the cache, which may evict them; if the versions are `all`, so do all other files.
   */
  async keepPinned(
    versions: Iterable<Version>,
    { files, all }: { files: ReadonlySet<string>; all: boolean },
  ): Promise<void> {
    const wanted = new Map<string, string>()
    for (const version of versions) {
      const { pathKey, key } = storedVersion(version, 0)
      wanted.set(pathKey, key)
    }
    if ((await this.#pinned?.noticeMissing()) === true) this.#whole.clear()
    for (const [pathKey, key] of this.#whole) if (wanted.get(pathKey) !== key) this.#whole.delete(pathKey)
    await this.#pinned?.keepOnly(
      (pathKey, key, file) => !files.has(file) || (wanted.get(pathKey) ?? (all ? '' : key)) === key,
      this.#ordinary,
    )
  }

  /** Removes all cached blocks; pinned ones only if asked for. */
  async clear({ withPinned }: { withPinned: boolean }): Promise<void> {
    await this.#ordinary?.clear()
    if (!withPinned) return
    this.#whole.clear()
    await this.#pinned?.clear()
  }

  /** Bytes that `giveUp` could free, as far as the folder has been read. */
  get givableBytes(): number {
    return this.#ordinary?.bytes ?? 0
  }

  /** See `BlockStore.giveUp`; pinned documents stay. */
  async giveUp(bytes: number): Promise<number> {
    return (await this.#ordinary?.giveUp(bytes)) ?? 0
  }

  async amount(): Promise<DiskAmount> {
    return {
      cached: (await this.#ordinary?.amount()) ?? nothing,
      cacheSizeBytes: this.#options.sizeBytes,
      pinned: (await this.#pinned?.amount()) ?? nothing,
      pinSizeBytes: this.#options.pinned?.sizeBytes ?? 0,
    }
  }

  /** Writes the queued blocks and closes all files. */
  async close(): Promise<void> {
    await Promise.all([this.#ordinary?.close(), this.#pinned?.close()])
  }

  #openPinned({ dir, sizeBytes }: PinnedPlace): BlockStore {
    this.#pinned = new BlockStore({ ...this.#options, dir, sizeBytes, evicts: false })
    return this.#pinned
  }
}
