// Fetches all of a version into its store on disk, one segment at a time: blocks that are cached already from there, the
// rest from the service. Does not use the readers' memory, and leaves the network to them first.

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

/** Interval in which a stream held back reports progress (ms), since its silence is not the service's. */
const heldMs = 1_000

/** True for a version that can be kept on disk: its size is known, and its time tells it from the next one. */
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
  const target = sources.disk.placeOf(version.path)
  if (target === undefined) throw noRoom(version)
  const wholeFetch = new WholeFetch(sources, target, version, options)
  return cancelledBy(options.signal, (cancellation) => wholeFetch.run(cancellation))
}

class WholeFetch {
  readonly #sources: FetchWholeSources
  readonly #target: BlockStore
  readonly #version: Version & { readonly size: number }
  readonly #options: FetchWholeOptions
  readonly #stored: StoredVersion
  readonly #check: VersionCheck
  #fetchedBytes = 0

  constructor(
    sources: FetchWholeSources,
    target: BlockStore,
    version: Version & { readonly size: number },
    options: FetchWholeOptions,
  ) {
    this.#sources = sources
    this.#target = target
    this.#version = version
    this.#options = options
    this.#stored = storedVersion(version, version.size)
    this.#check = new VersionCheck(version.size)
  }

  /** Returns the bytes that were downloaded. */
  async run(cancellation: Cancellation): Promise<number> {
    const end = blockCount(this.#version.size)
    let first = 0
    while (first < end) {
      cancellation.throwIfCancelled()
      const run = { first, end: Math.min(end, (segmentNumber(first) + 1) * segmentBlocks) }
      const located = await this.#target.ranges.locate(this.#stored, run)
      if (!located.isHere) first = await this.#fetchStart(located, cancellation)
      else if (await this.#isReadable(first)) first = located.end
    }
    return this.#fetchedBytes
  }

  /**
   * True where the block can be read, and has the right ETag: a block left by an earlier attempt decides the ETag of the rest.
   * Reading makes a damaged block absent.
   */
  async #isReadable(block: number): Promise<boolean> {
    if (this.#check.tag !== 0) return true
    const [stored] = await this.#target.ranges.read(this.#stored, { first: block, end: block + 1 })
    return stored !== undefined && this.#check.isSameTag(stored.tag)
  }

  /** Fetches the first blocks of a run that is not in its store. Returns the number of the block after them. */
  async #fetchStart(run: BlockRun, cancellation: Cancellation): Promise<number> {
    const { disk, queue } = this.#sources
    const cached = await disk.locate(this.#stored, run)
    if (cached.isHere) {
      const blocks = await disk.read(this.#stored, cached)
      const own = blocks.filter(({ tag }) => this.#check.isSameTag(tag))
      if (own.length < blocks.length) disk.drop(this.#stored, run.first)
      await this.#keep(own)
      return run.first + own.length
    }
    const blocks: StoredBlock[] = []
    try {
      await queue.runQuietly(() => this.#download(cached, blocks, cancellation))
    } finally {
      // Blocks received before a failure are kept, and need not be downloaded again.
      await this.#keep(blocks)
    }
    return cached.end
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

  /** Writes blocks to the store. Throws ENOSPC where there is no space. */
  async #keep(blocks: readonly StoredBlock[]): Promise<void> {
    if (blocks.length === 0) return
    if (!(await this.#target.store(this.#stored, blocks))) throw noRoom(this.#version)
    const bytes = blocks.reduce((sum, { block }) => sum + blockLength(block, this.#version.size), 0)
    this.#options.onKept?.(bytes)
  }

  /** Forgets all blocks and the URL of a path that has other content now. Returns ESTALE. */
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
