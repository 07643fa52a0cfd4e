// Brings all of a version to its place on disk: what is in the cache already from there, the rest from the service, a
// segment at a time. Past the memory that readers share, and behind everything they want of the network.

import { cancelledBy } from './cancellation.ts'
import type { Cancellation } from './cancellation.ts'
import type { DownloadSources } from './download-attempts.ts'
import type { DownloadQueue } from './download-queue.ts'
import { downloadRun } from './download-run.ts'
import type { BlockStore } from '../disk/block-store.ts'
import type { DiskCache } from '../disk/disk-cache.ts'
import { segmentBlocks, segmentNumber, storedVersion } from '../disk/stored-version.ts'
import type { StoredVersion } from '../disk/stored-version.ts'
import type { StoredBlock } from '../disk/segment-table.ts'
import { ErrnoError } from '../../errno-error.ts'
import { blockCount, blockLength } from '../extent.ts'
import type { BlockRun } from '../extent.ts'
import type { Version } from '../fingerprint.ts'
import type { FetchWholeOptions } from './reader.ts'
import { isWeak } from './version-blocks.ts'
import { VersionCheck } from './version-check.ts'

export interface FetchWholeSources {
  readonly download: DownloadSources
  readonly queue: DownloadQueue
  readonly disk: DiskCache
}

/** A stream that is held back says so as often: silence is ours, not the service's. */
const heldMs = 1_000

/** True for a version that can be kept: its size is known, and it can be told from the next one. */
export function isKeepable(version: Version): version is Version & { readonly size: number } {
  return version.size !== undefined && !isWeak(version)
}

/** See `Reader.fetchWhole`. */
export async function fetchWhole(
  sources: FetchWholeSources,
  version: Version,
  options: FetchWholeOptions,
): Promise<number> {
  if (!isKeepable(version)) throw new ErrnoError('EINVAL', `${version.path}: its size or time is not told`)
  const place = sources.disk.placeOf(version.path)
  if (place === undefined) throw noRoom(version)
  const filling = new Filling(sources, place, version, options)
  return cancelledBy(options.signal, (cancellation) => filling.fill(cancellation))
}

class Filling {
  readonly #sources: FetchWholeSources
  readonly #place: BlockStore
  readonly #version: Version & { readonly size: number }
  readonly #options: FetchWholeOptions
  readonly #stored: StoredVersion
  readonly #check: VersionCheck
  #fetchedBytes = 0

  constructor(
    sources: FetchWholeSources,
    place: BlockStore,
    version: Version & { readonly size: number },
    options: FetchWholeOptions,
  ) {
    this.#sources = sources
    this.#place = place
    this.#version = version
    this.#options = options
    this.#stored = storedVersion(version, version.size)
    this.#check = new VersionCheck(version.size)
  }

  /** Bytes that came through the network. */
  async fill(cancellation: Cancellation): Promise<number> {
    const end = blockCount(this.#version.size)
    let first = 0
    while (first < end) {
      cancellation.throwIfCancelled()
      const run = { first, end: Math.min(end, (segmentNumber(first) + 1) * segmentBlocks) }
      const located = await this.#place.here.locate(this.#stored, run)
      if (!located.isHere) first = await this.#bring(located, cancellation)
      else if (await this.#isReadable(first)) first = located.end
    }
    return this.#fetchedBytes
  }

  /**
   * A block that an earlier try left says which ETag the rest must have. A block that cannot be read is absent from
   * then on.
   */
  async #isReadable(block: number): Promise<boolean> {
    if (this.#check.tag !== 0) return true
    const [stored] = await this.#place.here.read(this.#stored, { first: block, end: block + 1 })
    return stored !== undefined && this.#check.isSameTag(stored.tag)
  }

  /** Brings the beginning of a run that is not in its place. Answers the first block after it. */
  async #bring(run: BlockRun, cancellation: Cancellation): Promise<number> {
    const { disk, queue } = this.#sources
    const elsewhere = await disk.locate(this.#stored, run)
    if (elsewhere.isHere) {
      const blocks = await disk.read(this.#stored, elsewhere)
      const own = blocks.filter(({ tag }) => this.#check.isSameTag(tag))
      if (own.length < blocks.length) disk.drop(this.#stored, run.first)
      await this.#keep(own)
      return run.first + own.length
    }
    const blocks: StoredBlock[] = []
    try {
      await queue.runQuietly(() => this.#download(elsewhere, blocks, cancellation))
    } finally {
      // Blocks that came before it was cut are kept: they need no second time.
      await this.#keep(blocks)
    }
    return elsewhere.end
  }

  #download(run: BlockRun, blocks: StoredBlock[], cancellation: Cancellation): Promise<void> {
    const { download, queue } = this.#sources
    const target = {
      version: () => this.#version,
      sizeBytes: this.#version.size,
      checkAnswer: (answer: Parameters<VersionCheck['isSameAnswer']>[0]) => {
        if (!this.#check.isSameAnswer(answer)) throw this.#changed()
      },
      give: (block: number, bytes: StoredBlock['bytes']) => {
        blocks.push({ block, bytes, tag: this.#check.tag })
        this.#fetchedBytes += blockLength(block, this.#version.size)
      },
      isTooFar: () => queue.isBusy && !cancellation.isCancelled,
      hold: async (progressed: () => void) => {
        while (queue.isBusy && !cancellation.isCancelled) {
          await queue.quiet(heldMs)
          progressed()
        }
      },
    }
    return downloadRun(download, target, run, cancellation)
  }

  /** Throws ENOSPC where there is no room. */
  async #keep(blocks: readonly StoredBlock[]): Promise<void> {
    if (blocks.length === 0) return
    if (!(await this.#place.store(this.#stored, blocks))) throw noRoom(this.#version)
    const bytes = blocks.reduce((sum, { block }) => sum + blockLength(block, this.#version.size), 0)
    this.#options.onKept?.(bytes)
  }

  /** Its name stands for another content now: everything of it goes, and its record is asked for anew. */
  #changed(): ErrnoError {
    const { path } = this.#version
    void this.#sources.disk.forget(path)
    this.#sources.download.urls.forget(path)
    return new ErrnoError('ESTALE', `${path}: the document was changed in the service while it was fetched`)
  }
}

function noRoom({ path }: Version): ErrnoError {
  return new ErrnoError('ENOSPC', `${path}: there is no room for it on disk`)
}
