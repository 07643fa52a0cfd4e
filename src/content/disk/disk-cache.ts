// The disk cache: a bounded store of what was read, and beside it, where something is pinned, a store that evicts nothing
// automatically. Readers see one; what is pinned is written by `store` and `adopt` alone, so that it is whole, and not what
// happened to be read. The pinned store is one mount's own: another mount of the project must not evict it.

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

/** Where pinned documents are kept. */
export interface PinnedPlace {
  /** A folder of this mount's own. */
  readonly dir: string
  /** Hard cap on the bytes of all its files. */
  readonly sizeBytes: number
  /** True for a document that is to stay here. */
  covers(path: string): boolean
}

export interface DiskCacheOptions extends Omit<BlockStoreOptions, 'evicts'> {
  /** Absent: nothing can be pinned. */
  readonly pinned?: PinnedPlace
}

export interface DiskAmount {
  readonly cached: StoredAmount
  /** Room of the cache (bytes). */
  readonly cacheSizeBytes: number
  readonly pinned: StoredAmount
  /** Room of pins (bytes). */
  readonly pinSizeBytes: number
}

const nothing: StoredAmount = { bytes: 0, documents: 0 }

export class DiskCache {
  readonly #options: DiskCacheOptions
  /** Undefined: nothing is kept that is not pinned. */
  readonly #ordinary: BlockStore | undefined
  /** Made when something is pinned. */
  #pinned: BlockStore | undefined
  /** Versions found whole with the pins, by path: not looked at again until something is missing. */
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
      this.#ordinary?.here.locate(version, rest) ?? { first: rest.first, end: rest.end, isHere: false }
    const pinned = this.#pinned?.here.locate(version, run)
    if (pinned === undefined) return ordinary(run)
    const elsewhere = (located: LocatedRun): LocatedRun | Promise<LocatedRun> => {
      if (located.isHere) return located
      this.#whole.delete(version.pathKey)
      return ordinary(located)
    }
    return pinned instanceof Promise ? pinned.then(elsewhere) : elsewhere(pinned)
  }

  /** See `CachedRanges.read`. */
  async read(version: StoredVersion, run: BlockRun): Promise<StoredBlock[]> {
    const pinned = (await this.#pinned?.here.read(version, run)) ?? []
    return pinned.length > 0 ? pinned : ((await this.#ordinary?.here.read(version, run)) ?? [])
  }

  /** See `CachedRanges.readPart`. */
  async readPart(version: StoredVersion, part: BlockPart): Promise<StoredPart | undefined> {
    return (await this.#pinned?.here.readPart(version, part)) ?? this.#ordinary?.here.readPart(version, part)
  }

  /** See `CachedRanges.readPartNow`. */
  readPartNow(version: StoredVersion, part: BlockPart, room?: Uint8Array): StoredPart | undefined {
    return (
      this.#pinned?.here.readPartNow(version, part, room) ??
      this.#ordinary?.here.readPartNow(version, part, room)
    )
  }

  /** True if blocks that are here can be read when they are asked for: there is no need to have them in memory before. */
  get isQuick(): boolean {
    return (this.#pinned?.here.isQuick ?? true) && (this.#ordinary?.here.isQuick ?? true)
  }

  /** A block turned out to be of another content. */
  drop(version: StoredVersion, block: number): void {
    this.#pinned?.here.drop(version, block)
    this.#ordinary?.here.drop(version, block)
  }

  /** True if a block written now would be kept. */
  get hasRoom(): boolean {
    return this.#ordinary?.hasRoom ?? true
  }

  /** Keeps a block that was read, when there is room and time for it. */
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

  /** Takes over a file that holds exactly the version's bytes. Removes `file`, whether it is kept or not. */
  async adopt(version: Version, sizeBytes: number, file: string): Promise<void> {
    const stored = storedVersion(version, sizeBytes)
    const place = this.placeOf(version.path)
    // The older versions there are nobody's.
    for (const other of [this.#pinned, this.#ordinary]) if (other !== place) void other?.forget(version.path)
    if ((await place?.adopt(stored, file)) === true) return
    if (place !== this.#ordinary && (await this.#ordinary?.adopt(stored, file)) === true) return
    await unlinkIfThere(file, this.#options.disk)
  }

  /** A document of one block is at hand whole: where it is pinned it is in its place at once, whatever becomes of `write`. */
  keep(version: Version, bytes: Uint8Array): void {
    const place = this.placeOf(version.path)
    if (place === undefined || place === this.#ordinary) return
    void place.store(storedVersion(version, bytes.length), [{ block: 0, bytes: [bytes], tag: 0 }])
  }

  /** Where a document is kept whole: with the pins, or for as long as the cache has room. Undefined: nowhere. */
  placeOf(path: string): BlockStore | undefined {
    const { pinned } = this.#options
    if (pinned?.covers(path) !== true) return this.#ordinary
    return this.#pinned ?? this.#openPinned(pinned)
  }

  /** How much of a version is on disk; `isInPlace`: where the pins are, if it is pinned. See `BlockStore.held`. */
  held(version: Version, sizeBytes: number): { readonly held: Held; readonly isInPlace: boolean } {
    if (this.heldBytes === 0) return { held: 'nothing', isInPlace: false }
    const stored = storedVersion(version, sizeBytes)
    const pinned = this.#pinned?.held(stored) ?? 'nothing'
    if (pinned === 'whole') return { held: pinned, isInPlace: true }
    const ordinary = this.#ordinary?.held(stored) ?? 'nothing'
    return { held: ordinary === 'nothing' ? pinned : ordinary, isInPlace: false }
  }

  /** Bytes on disk, as far as the folders have been read: other ones when something came or went. */
  get heldBytes(): number {
    return (this.#ordinary?.bytes ?? 0) + (this.#pinned?.bytes ?? 0)
  }

  /** Bytes of a version that are in its place. */
  async bytesInPlace(version: Version, sizeBytes: number): Promise<number> {
    const place = this.placeOf(version.path)
    if (place === undefined) return 0
    const stored = storedVersion(version, sizeBytes)
    if (place === this.#pinned && this.#whole.get(stored.pathKey) === stored.key) return sizeBytes
    const bytes = await place.here.bytes(stored)
    if (place === this.#pinned && bytes === sizeBytes && !place.here.isOfThisRun(stored))
      this.#whole.set(stored.pathKey, stored.key)
    return bytes
  }

  /** Files that are with the pins when a look at them begins: see `keepPinned`. */
  async pinnedFiles(): Promise<ReadonlySet<string>> {
    return (await this.#pinned?.files()) ?? new Set()
  }

  /**
   * Pins these versions from now on, as far as they are still on disk: of the `files` that were there before the look,
   * older ones of the same paths go to the cache, which may evict them, and so does everything else where they are `all`.
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

  /** Removes what is cached; what is pinned only if asked for. */
  async clear({ withPinned }: { withPinned: boolean }): Promise<void> {
    await this.#ordinary?.clear()
    if (!withPinned) return
    this.#whole.clear()
    await this.#pinned?.clear()
  }

  /** Bytes that `giveUp` would give, as far as the folder has been read. */
  get givableBytes(): number {
    return this.#ordinary?.bytes ?? 0
  }

  /** See `BlockStore.giveUp`; what is pinned stays. */
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

  /** Writes what is waiting and closes all files. */
  async close(): Promise<void> {
    await Promise.all([this.#ordinary?.close(), this.#pinned?.close()])
  }

  #openPinned({ dir, sizeBytes }: PinnedPlace): BlockStore {
    this.#pinned = new BlockStore({ ...this.#options, dir, sizeBytes, evicts: false })
    return this.#pinned
  }
}
