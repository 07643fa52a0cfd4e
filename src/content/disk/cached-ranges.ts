// Reads blocks of a block store: which are here, and their bytes. Changes nothing on disk. Blocks that cannot be read are absent.

import type { Clock } from '../../world/clock.ts'
import { blockCount } from '../extent.ts'
import type { BlockRun } from '../extent.ts'
import type { BlockIndex } from './block-index.ts'
import type { OpenSegments } from './open-segments.ts'
import { ReadPace } from './read-pace.ts'
import { Segment } from './segment.ts'
import type { BlockPart, StoredPart } from './segment.ts'
import type { StoredBlock } from './segment-table.ts'
import { segmentBlocks, segmentName, segmentNumber } from './stored-version.ts'
import type { StoredVersion } from './stored-version.ts'
import type { Log } from '../../log.ts'

/** A run of blocks that are all here, or all absent. */
export interface LocatedRun extends BlockRun {
  readonly isHere: boolean
}

/** Blocks per read from disk: 1 MiB. */
const blocksPerRead = 8

export interface CachedRangesOptions {
  readonly index: BlockIndex
  readonly segments: OpenSegments
  readonly log: Log
  readonly clock: Clock
  /** True for a version whose blocks must not be read any more. */
  readonly isGone: (version: StoredVersion) => boolean
  /** Resolves when blocks that are being renamed to the version are there; undefined where none are. */
  readonly arriving: (version: StoredVersion) => Promise<void> | undefined
}

export class CachedRanges {
  readonly #index: BlockIndex
  readonly #segments: OpenSegments
  readonly #log: Log
  readonly #clock: Clock
  readonly #isGone: CachedRangesOptions['isGone']
  readonly #arriving: CachedRangesOptions['arriving']
  readonly #pace = new ReadPace()

  constructor({ index, segments, log, clock, isGone, arriving }: CachedRangesOptions) {
    this.#index = index
    this.#segments = segments
    this.#log = log
    this.#clock = clock
    this.#isGone = isGone
    this.#arriving = arriving
  }

  /** Returns the longest run from the first block on that is all here (at most one read) or all absent. */
  locate(version: StoredVersion, run: BlockRun): LocatedRun | Promise<LocatedRun> {
    const arriving = this.#arriving(version)
    if (arriving !== undefined) return arriving.then(() => this.locate(version, run))
    if (this.#isGone(version)) return absent(run)
    const whole = this.#segments.peek(segmentName(version, 'whole'))
    if (whole instanceof Segment) return locatedIn(whole, run)
    const inSegment = clipToSegment(run)
    const first = this.#segments.peek(segmentName(version, segmentNumber(run.first)))
    if (whole === 'unknown' || first === 'unknown') return this.#locateByOpening(version, run)
    if (first instanceof Segment) {
      const located = locatedIn(first, inSegment)
      if (located.isHere || located.end < inSegment.end) return located
    }
    let { end } = inSegment
    while (end < run.end && this.#segments.peek(segmentName(version, segmentNumber(end))) === 'absent') {
      end = Math.min(run.end, end + segmentBlocks)
    }
    return absent({ first: run.first, end })
  }

  /** Reads blocks of a run that `locate` found, in order; fewer where the disk fails or a checksum is wrong. */
  async read(version: StoredVersion, run: BlockRun): Promise<StoredBlock[]> {
    for (const id of ['whole', segmentNumber(run.first)] as const) {
      const name = segmentName(version, id)
      const segment = this.#segments.peek(name)
      if (!(segment instanceof Segment) || !segment.has(run.first)) continue
      this.#index.touch(name)
      try {
        return await segment.read(run)
      } catch (error) {
        this.#log.debug({ error: String(error) }, 'a cached block cannot be read')
        segment.drop(run.first)
      }
    }
    return []
  }

  /** Reads a part of blocks that are here; undefined where they are not, the disk fails, or a checksum is wrong. */
  async readPart(version: StoredVersion, part: BlockPart): Promise<StoredPart | undefined> {
    const segment = this.#segmentWith(version, part)
    if (segment === undefined) return undefined
    try {
      return await segment.readPart(part)
    } catch (error) {
      this.#unreadable(segment, part, error)
      return undefined
    }
  }

  /** Like `readPart`, but synchronous, and into `buffer` if that is large enough. Undefined also if the disk may be slow. */
  readPartNow(version: StoredVersion, part: BlockPart, buffer?: Uint8Array): StoredPart | undefined {
    const { monotonic } = this.#clock
    const fromMs = monotonic()
    if (!this.#pace.isQuick(fromMs)) return undefined
    const segment = this.#segmentWith(version, part)
    if (segment === undefined) return undefined
    try {
      return segment.readPartNow(part, buffer)
    } catch (error) {
      this.#unreadable(segment, part, error)
      return undefined
    } finally {
      this.#pace.took(fromMs, monotonic())
    }
  }

  /** True where the disk is quick enough to read blocks when they are needed, without reading ahead. */
  get isQuick(): boolean {
    return this.#pace.isQuick(this.#clock.monotonic())
  }

  /** Drops a block that turned out to have other content. */
  drop(version: StoredVersion, block: number): void {
    for (const id of ['whole', segmentNumber(block)] as const) {
      const segment = this.#segments.peek(segmentName(version, id))
      if (segment instanceof Segment) segment.drop(block)
    }
  }

  /** Bytes of the version that are here. */
  async bytes(version: StoredVersion): Promise<number> {
    const whole = await this.#segments.find(version, 'whole')
    if (whole !== undefined) return whole.bytesHere
    let bytes = 0
    const segments = segmentNumber(blockCount(version.sizeBytes) - 1) + 1
    for (let number = 0; number < segments; number++)
      bytes += (await this.#segments.find(version, number))?.bytesHere ?? 0
    return bytes
  }

  /** True while the version's file would be absent after a crash, because its checksums are not on disk yet. */
  isOfThisRun(version: StoredVersion): boolean {
    return this.#segments.isTrusted(segmentName(version, 'whole'))
  }

  /** The open segment that has all of the part; undefined if there is none. */
  #segmentWith(version: StoredVersion, part: BlockPart): Segment | undefined {
    if (this.#isGone(version)) return undefined
    for (const id of ['whole', segmentNumber(part.block)] as const) {
      const name = segmentName(version, id)
      const segment = this.#segments.peek(name)
      if (!(segment instanceof Segment) || !segment.hasAll(part)) continue
      this.#index.touch(name)
      return segment
    }
    return undefined
  }

  #unreadable(segment: Segment, { block }: BlockPart, error: unknown): void {
    this.#log.debug({ error: String(error) }, 'a cached block cannot be read')
    segment.drop(block)
  }

  async #locateByOpening(version: StoredVersion, run: BlockRun): Promise<LocatedRun> {
    const whole = await this.#segments.find(version, 'whole')
    if (whole !== undefined) return locatedIn(whole, run)
    const inSegment = clipToSegment(run)
    const segment = await this.#segments.find(version, segmentNumber(run.first))
    return segment === undefined ? absent(inSegment) : locatedIn(segment, inSegment)
  }
}

function absent(run: BlockRun): LocatedRun {
  return { first: run.first, end: run.end, isHere: false }
}

function clipToSegment(run: BlockRun): BlockRun {
  return { first: run.first, end: Math.min(run.end, (segmentNumber(run.first) + 1) * segmentBlocks) }
}

function locatedIn(segment: Segment, run: BlockRun): LocatedRun {
  const isHere = segment.has(run.first)
  const limit = isHere ? Math.min(run.end, run.first + blocksPerRead) : run.end
  let end = run.first + 1
  while (end < limit && segment.has(end) === isHere) end++
  return { first: run.first, end, isHere }
}
