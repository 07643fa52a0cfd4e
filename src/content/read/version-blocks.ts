// The blocks of one version of a document: those in memory, the fetches under way, and the reads that wait. Shared by all
// handles on the version, so that no block is fetched twice. Bytes of another version never get in: see `checkAnswer`.

import { NetworkError } from '../../api/errors.ts'
import type { Download } from '../../api/types.ts'
import type { Block } from '../block.ts'
import { type Borrowed, borrow, endUse, use } from '../block-uses.ts'
import type { BlockCache } from './block-cache.ts'
import { BlockWaiters } from './block-waiters.ts'
import type { Urgency } from './download-queue.ts'
import { ErrnoError } from '../../errno-error.ts'
import { blockCount, blockLength, gapsOf } from '../extent.ts'
import type { BlockRun } from '../extent.ts'
import { Fetch } from './fetch.ts'
import type { FetchOwner } from './fetch.ts'
import { fillFetch } from './fill-fetch.ts'
import type { FillSources, FillTarget } from './fill-fetch.ts'
import type { Version } from '../fingerprint.ts'
import type { Arrival } from './read-ahead.ts'
import type { ReadFor } from './reader.ts'
import { BackgroundFetch } from './background-fetch.ts'
import type { BlockPart, StoredPart } from '../disk/segment.ts'
import { storedVersion } from '../disk/stored-version.ts'
import type { StoredVersion } from '../disk/stored-version.ts'
import { VersionCheck } from './version-check.ts'

export interface BlockSources extends FillSources {
  readonly cache: BlockCache
  /** Largest document that is fetched whole when it is read here and there (bytes). */
  readonly keepableBytes: number
}

/** Events for the owner of all versions. */
export interface BlockEvents {
  /** No block is in memory, no fetch is under way, and no handle is open. */
  becameIdle(blocks: VersionBlocks): void
  /** The service has other content at this version's path. */
  becameStale(blocks: VersionBlocks): void
  /** All blocks have arrived at least once, some of them through the network. */
  allArrived(blocks: VersionBlocks): void
}

/** Longest wait of a read for a download that gets no slot (ms); one under way has limits of its own. */
const turnWaitMs = 15_000

/** A document larger than this part of the memory is not kept there after it was read sequentially. */
const keptPart = 1 / 2

export class VersionBlocks implements FillTarget {
  readonly id: number
  readonly sizeBytes: number
  readonly #sources: BlockSources
  readonly #events: BlockEvents
  readonly #fetches: Fetch[] = []
  readonly #waiters: BlockWaiters
  /** One check for each path it had: the same bytes may have another ETag there. */
  readonly #checks = new WeakMap<Version, VersionCheck>()
  readonly #rest: BackgroundFetch
  /** For each block 1 if it has arrived; undefined once all have. */
  #hasArrived: Uint8Array | undefined
  #arrivedCount = 0
  #isFromNetwork = false
  #version: Version
  #stored: StoredVersion | undefined
  #stale: ErrnoError | undefined
  /** True while a new handle on this version joins these blocks, and they are kept on disk. */
  isShared: boolean
  /** Number of open handles. */
  readings = 0
  /** Number of its blocks in memory. */
  resident = 0

  constructor(id: number, version: Version, sizeBytes: number, sources: BlockSources, events: BlockEvents) {
    this.id = id
    this.#version = version
    this.sizeBytes = sizeBytes
    this.#sources = sources
    this.#waiters = new BlockWaiters(sources.download.world.clock)
    this.#events = events
    this.isShared = !isWeak(version)
    this.#hasArrived = new Uint8Array(blockCount(sizeBytes))
    this.#rest = new BackgroundFetch({
      sizeBytes,
      link: sources.download.link,
      keepableBytes: this.isShared ? sources.keepableBytes : 0,
      hasRoom: () => sources.store.hasRoom,
      fetch: (run, owner) => this.request(run, 'rest', owner),
      underWay: (owner) => this.#fetches.filter(({ owners }) => owners.has(owner)).length,
    })
  }

  get version(): Version {
    return this.#version
  }

  get isIdle(): boolean {
    return this.readings === 0 && this.resident === 0 && this.#fetches.length === 0
  }

  /** ESTALE, once nothing can be read any more because the document is another one now. */
  get stale(): ErrnoError | undefined {
    return this.#stale
  }

  /** The block, if it is in memory; without `borrowed`, its bytes may be kept. */
  peek(block: number, borrowed?: Borrowed): Block | undefined {
    const bytes = this.#sources.cache.peek(this.id, block)
    if (bytes !== undefined) borrow(bytes, borrowed)
    return bytes
  }

  isInMemory(block: number): boolean {
    return this.#sources.cache.has(this.id, block)
  }

  /** Counts a block as used, because it may be read again. */
  touch(block: number): void {
    this.#sources.cache.touch(this.id, block)
  }

  /** Drops a block that will hardly be read again soon. */
  discard(block: number): void {
    this.#sources.cache.delete(this.id, block)
  }

  get isTooLargeToKeep(): boolean {
    return this.sizeBytes > this.#sources.cache.sizeBytes * keptPart
  }

  /** State of a block that is not in memory. */
  arrivalOf(block: number): Arrival {
    const fetch = this.#fetches.find((fetch) => fetch.covers(block))
    return fetch === undefined ? 'missing' : fetch.isFlowing ? 'flowing' : 'requested'
  }

  /** Starts fetches for the blocks of a run that are neither in memory nor under way. `owner` wants them until `release`. */
  request(run: BlockRun, urgency: Urgency, owner: FetchOwner): void {
    if (this.#stale !== undefined) return
    for (const fetch of this.#fetches) {
      if (fetch.end > run.first && fetch.next < run.end) fetch.owners.add(owner)
    }
    const isHere = (block: number): boolean => this.#sources.cache.has(this.id, block)
    for (const gap of gapsOf(run, (block) => isHere(block) || this.#isComing(block))) {
      this.#start(gap, urgency, [owner])
    }
  }

  /** Resolves with the blocks of a run that a read waits for. Rejects with the signal's reason, ESTALE, ApiError, NetworkError. */
  async demand(run: BlockRun, { signal, borrowed }: ReadFor, owner: FetchOwner): Promise<Block[]> {
    for (const fetch of this.#fetches.slice()) this.#promote(fetch, run)
    const isSoonHere = (block: number): boolean =>
      this.isInMemory(block) || this.#fetches.some((fetch) => fetch.willSoonGive(block))
    for (const gap of gapsOf(run, isSoonHere)) this.#start(gap, 'foreground', [owner])
    if (this.#stale !== undefined) throw this.#stale
    const waiting = this.#waiters.wait(run, {
      signal,
      peek: (block) => this.peek(block, borrowed),
      checkMs: turnWaitMs,
      check: (block) => this.#turnOverdue(block),
      borrowed,
      onLeave: () => {
        for (const fetch of this.#fetches.slice()) this.#abortUnwanted(fetch)
      },
    })
    this.resume()
    return waiting
  }

  /**
   * Reads a part of one block from the disk cache, and no more than that; undefined where it is not there, or that is not
   * known at once.
   */
  storedPart(part: BlockPart): Promise<Uint8Array | undefined> | undefined {
    const stored = this.storedVersion
    if (stored === undefined) return undefined
    const { store } = this.#sources
    const located = store.locate(stored, { first: part.block, end: part.block + 1 })
    if (located instanceof Promise || !located.isHere) return undefined
    return store.readPart(stored, part).then((found) => this.#accepted(stored, part, found))
  }

  /** Like `storedPart`, but synchronous, for several blocks, into `buffer` if it fits; only if the disk is quick. Throws ESTALE. */
  storedPartNow(part: BlockPart, buffer?: Uint8Array): Uint8Array | undefined {
    const stored = this.storedVersion
    if (stored === undefined) return undefined
    return this.#accepted(stored, part, this.#sources.store.readPartNow(stored, part, buffer))
  }

  /** Returns the bytes found if they are of this version; drops others from the disk cache. Throws ESTALE. */
  #accepted(
    stored: StoredVersion,
    { block }: BlockPart,
    found: StoredPart | undefined,
  ): Uint8Array | undefined {
    if (found === undefined || this.acceptsStored(found.tag)) return found?.bytes
    this.#sources.store.drop(stored, block)
    return undefined
  }

  /** Like `demand`, for a reader that jumped: the time it waits counts towards fetching the rest of the document. */
  async demandAfterJump(run: BlockRun, reader: ReadFor, owner: FetchOwner): Promise<Block[]> {
    const now = this.#sources.download.world.clock.monotonic
    const sinceMs = now()
    const blocks = await this.demand(run, reader, owner)
    this.#rest.paid(now() - sinceMs, run.first)
    return blocks
  }

  /** Called when the last handle was closed. */
  lastHandleClosed(): void {
    this.#rest.lastHandleClosed()
    this.release(this.#rest)
  }

  /** Removes an owner from all fetches. Aborts those that no other owner or read wants, unless they are nearly done. */
  release(owner: FetchOwner): void {
    for (const fetch of this.#fetches.slice()) {
      if (fetch.owners.delete(owner)) this.#abortUnwanted(fetch)
    }
    this.resume()
  }

  /**
   * Throws ESTALE, and forgets every block, where an answer's size or ETag is not this version's; NetworkError where the request
   * was for a path that the version has left since.
   */
  checkAnswer(answer: Pick<Download, 'totalSize' | 'etag'>, at: Version): void {
    if (this.#checkAt(at).isSameAnswer(answer)) return
    if (at === this.#version) throw this.#becomeStale()
    throw new NetworkError({ method: 'GET', path: at.path }, 'cut', 'the document has moved meanwhile')
  }

  acceptsStored(tag: number): boolean {
    if (this.#stale !== undefined) throw this.#stale
    return this.#checkAt(this.#version).isSameTag(tag)
  }

  get storedVersion(): StoredVersion | undefined {
    if (!this.isShared) return undefined
    this.#stored ??= storedVersion(this.#version, this.sizeBytes)
    return this.#stored
  }

  arrived(block: number, bytes: Block, from: 'disk' | 'network', urgency?: Urgency): void {
    const { cache, store } = this.#sources
    use(bytes)
    if (this.#stale === undefined && !cache.has(this.id, block)) {
      if (cache.set(this.id, block, bytes, blockLength(block, this.sizeBytes))) this.resident++
      const stored = from === 'network' ? this.storedVersion : undefined
      if (stored !== undefined) {
        const { tag } = this.#checkAt(this.#version)
        store.write(stored, { block, bytes, tag, isPassing: urgency === 'read-ahead' })
      }
    }
    this.#waiters.give(block, bytes)
    endUse(bytes)
    if (urgency !== undefined) this.#isFromNetwork = true
    this.#count(block)
  }

  #count(block: number): void {
    if (this.#hasArrived === undefined || this.#hasArrived[block] === 1) return
    this.#hasArrived[block] = 1
    this.#arrivedCount++
    if (this.#arrivedCount < this.#hasArrived.length) return
    this.#hasArrived = undefined
    if (this.#isFromNetwork) this.#events.allArrived(this)
  }

  splitOff(fetch: Fetch, first: number): void {
    const rest = { first, end: fetch.end }
    fetch.end = first
    this.#start(rest, fetch.urgency, fetch.owners)
  }

  isAwaited(fetch: Fetch): boolean {
    return this.#waiters.some((block) => fetch.covers(block))
  }

  /** Resumes fetches that were held back, and are wanted now. */
  resume(): void {
    for (const fetch of this.#fetches) {
      if (fetch.isPaused && (fetch.isWanted || this.isAwaited(fetch))) fetch.resume()
    }
  }

  /** Makes the blocks those of another version with the same bytes. */
  moveTo(version: Version): void {
    this.#version = version
    this.#stored = undefined
  }

  /** Drops all blocks in memory; `discard` drops one. */
  drop(): void {
    for (let block = 0, end = blockCount(this.sizeBytes); block < end && this.resident > 0; block++) {
      this.#sources.cache.delete(this.id, block)
    }
  }

  /** Aborts all fetches. */
  abort(): void {
    for (const fetch of this.#fetches.slice()) fetch.abort()
  }

  #checkAt(version: Version): VersionCheck {
    const known = this.#checks.get(version) ?? new VersionCheck(this.sizeBytes)
    this.#checks.set(version, known)
    return known
  }

  #isComing(block: number): boolean {
    return this.#fetches.some((fetch) => fetch.covers(block))
  }

  #start(run: BlockRun, urgency: Urgency, owners: Iterable<FetchOwner>): void {
    const fetch = new Fetch(run, urgency, owners)
    this.#fetches.push(fetch)
    void this.#carryOut(fetch)
  }

  async #carryOut(fetch: Fetch): Promise<void> {
    let failure: unknown
    try {
      await fillFetch(fetch, this, this.#sources)
    } catch (error) {
      failure = error
    }
    this.#fetches.splice(this.#fetches.indexOf(fetch), 1)
    if (failure !== undefined) {
      if (fetch.owners.has(this.#rest)) this.#rest.failed(fetch)
      const isHopeless = (block: number): boolean =>
        block >= fetch.next && block < fetch.end && !this.#isComing(block)
      this.#waiters.fail(isHopeless, this.#stale ?? failure)
    }
    this.#rest.fetchOn()
    if (this.isIdle) this.#events.becameIdle(this)
  }

  /** Moves the demanded blocks of a queued background fetch to a foreground fetch. */
  #promote(fetch: Fetch, run: BlockRun): void {
    const first = Math.max(fetch.next, run.first)
    if (!fetch.isQueued || fetch.urgency === 'foreground' || first >= Math.min(fetch.end, run.end)) return
    const rest = { first, end: fetch.end }
    fetch.end = first
    this.#start(rest, 'foreground', fetch.owners)
    if (fetch.next >= fetch.end) fetch.abort()
  }

  /** The error of a read whose block is still in line for a slot; undefined if its download runs. */
  #turnOverdue(block: number): Error | undefined {
    if (this.#fetches.some((fetch) => fetch.covers(block) && !fetch.isQueued)) return undefined
    const call = { method: 'GET', path: this.#version.path }
    return new NetworkError(call, 'deadline', `no turn to download within ${turnWaitMs / 1000} s`)
  }

  #abortUnwanted(fetch: Fetch): void {
    if (fetch.owners.size > 0 || fetch.isNearlyDone) return
    if (!this.isAwaited(fetch)) fetch.abort()
  }

  #becomeStale(): ErrnoError {
    if (this.#stale !== undefined) return this.#stale
    const { path } = this.#version
    this.#stale = new ErrnoError(
      'ESTALE',
      `${path}: the document was changed in the service while it was read`,
    )
    this.drop()
    this.#events.becameStale(this)
    this.abort()
    return this.#stale
  }
}

/** True for a version without a time: all contents of one size look the same, so its blocks must not outlive their readers. */
export function isWeak(version: Version): boolean {
  return version.fingerprint.endsWith('@?')
}
