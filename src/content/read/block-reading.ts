// The reads of one handle: each is split into blocks, and their pattern decides the read-ahead.

import { appendSlice } from '../block.ts'
import type { Block } from '../block.ts'
import type { BlockPart } from '../disk/segment.ts'
import { blockCount, blockSizeBytes, blocksOf, clip, splitRun } from '../extent.ts'
import type { BlockRun, Extent } from '../extent.ts'
import { firstWindowBytes, readAheadStep } from './read-ahead.ts'
import type { Arrival, ReadAheadState, ReadAheadStep } from './read-ahead.ts'
import type { FetchOwner } from './fetch.ts'
import type { ReadFor, Reading } from './reader.ts'
import type { VersionBlocks } from './version-blocks.ts'

/** A document up to this size is fetched whole, in one request. */
const smallDocumentBytes: number = 1024 * 1024

/**
 * Bytes to prefetch of a document, after its neighbour was read up to `furthest`: all of a small one; as much of a larger one,
 * but no more than a thumbnailer or `file` needs.
 */
export function prefetchedBytes(sizeBytes: number, furthest: number): number {
  if (sizeBytes <= smallDocumentBytes) return sizeBytes
  return Math.min(firstWindowBytes, Math.max(1, Math.ceil(furthest / blockSizeBytes)) * blockSizeBytes)
}

/** Budget shared by all handles, so that their read-ahead together stays bounded. */
export interface ReadAheadBudget {
  /** The largest window one handle may have now. */
  readonly maxWindowBytes: number
  /** Notes whether the handle reads sequentially. */
  setStreaming(reading: object, isStreaming: boolean): void
}

export class BlockReading implements Reading, FetchOwner {
  readonly #blocks: VersionBlocks
  readonly #budget: ReadAheadBudget
  readonly #onClose: () => void
  #readAhead: ReadAheadState | undefined
  #isClosed = false
  #furthest = 0
  wantedEnd: number

  constructor(blocks: VersionBlocks, budget: ReadAheadBudget, onClose: () => void) {
    this.#blocks = blocks
    this.#budget = budget
    this.#onClose = onClose
    this.wantedEnd = blockCount(blocks.sizeBytes)
  }

  read(
    offset: number,
    length: number,
    reader: ReadFor,
  ): readonly Uint8Array[] | Promise<readonly Uint8Array[]> {
    const blocks = this.#blocks
    if (blocks.stale !== undefined) throw blocks.stale
    const extent = clip({ offset, length }, blocks.sizeBytes)
    if (extent.length === 0) return []
    this.#furthest = Math.max(this.#furthest, extent.offset + extent.length)
    const run = blocksOf(extent)
    const inMemory = this.#peek(run, reader)
    const stored =
      inMemory === undefined ? blocks.storedPartNow(partOf(run, extent), reader.readBuffer) : undefined
    const arrival = inMemory !== undefined || stored !== undefined ? 'ready' : this.#arrivalOf(run)
    if (blocks.sizeBytes <= smallDocumentBytes) {
      if (arrival === 'missing')
        blocks.request({ first: 0, end: blockCount(blocks.sizeBytes) }, 'foreground', this)
    } else {
      const step = this.#step(extent, arrival)
      const part = this.#isJump(arrival) ? this.#storedPart(run, extent) : undefined
      if (part !== undefined) {
        if (step.hasSought) blocks.release(this)
        return part.then((bytes) =>
          bytes === undefined ? this.#readAfterJump(run, extent, reader) : [bytes],
        )
      }
      this.#fetchAhead(run, arrival, step)
    }
    if (stored !== undefined) return [stored]
    if (inMemory !== undefined) {
      this.#passed(run, extent)
      return slice(inMemory, run, extent)
    }
    if (this.#isJump(arrival)) return this.#readAfterJump(run, extent, reader)
    return blocks.demand(run, reader, this).then((loaded) => this.#sliceOf(loaded, run, extent))
  }

  get furthest(): number {
    return this.#furthest < this.#blocks.sizeBytes ? this.#furthest : Number.POSITIVE_INFINITY
  }

  /** True for a read elsewhere of a reader that jumps about (its read-ahead is 0), of a block that is not in memory. */
  #isJump(arrival: Arrival | 'ready'): boolean {
    return arrival === 'missing' && this.#readAhead?.windowBytes === 0
  }

  /** Reads a part of one block from the disk: a reader that jumps needs no more than it asks for. */
  #storedPart(run: BlockRun, extent: Extent): Promise<Uint8Array | undefined> | undefined {
    return run.end === run.first + 1 ? this.#blocks.storedPart(partOf(run, extent)) : undefined
  }

  /** Waits for these blocks alone; the wait counts towards fetching the whole document (`background-fetch.ts`). */
  async #readAfterJump(run: BlockRun, extent: Extent, reader: ReadFor): Promise<readonly Uint8Array[]> {
    return this.#sliceOf(await this.#blocks.demandAfterJump(run, reader, this), run, extent)
  }

  #sliceOf(loaded: readonly Block[], run: BlockRun, extent: Extent): readonly Uint8Array[] {
    this.#passed(run, extent)
    return slice(loaded, run, extent)
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#budget.setStreaming(this, false)
    this.#blocks.release(this)
    this.#onClose()
  }

  /** Discards blocks that a stream too large for memory has passed; counts others as used, since they may be read again. */
  #passed(run: BlockRun, extent: Extent): void {
    const isStreaming = (this.#readAhead?.windowBytes ?? 0) > 0
    if (isStreaming && this.#blocks.isTooLargeToKeep && this.#blocks.readings === 1) {
      const whole = Math.floor((extent.offset + extent.length) / blockSizeBytes)
      for (let block = run.first; block < whole; block++) this.#blocks.discard(block)
    } else if (!isStreaming) {
      this.#blocks.touch(run.first)
    }
  }

  #peek(run: BlockRun, { borrowed }: ReadFor): Block[] | undefined {
    const found: Block[] = []
    for (let block = run.first; block < run.end; block++) {
      const bytes = this.#blocks.peek(block, borrowed)
      if (bytes === undefined) return undefined
      found.push(bytes)
    }
    return found
  }

  #arrivalOf(run: BlockRun): Arrival {
    let arrival: Arrival = 'flowing'
    for (let block = run.first; block < run.end; block++) {
      if (this.#blocks.isInMemory(block)) continue
      const ofBlock = this.#blocks.arrivalOf(block)
      if (ofBlock === 'missing') return ofBlock
      if (ofBlock === 'requested') arrival = ofBlock
    }
    return arrival
  }

  #step(extent: Extent, arrival: Arrival): ReadAheadStep {
    const step = readAheadStep(this.#readAhead, extent, arrival, {
      sizeBytes: this.#blocks.sizeBytes,
      maxWindowBytes: this.#budget.maxWindowBytes,
    })
    const wasStreaming = (this.#readAhead?.windowBytes ?? 0) > 0
    const isStreaming = step.state.windowBytes > 0
    if (wasStreaming !== isStreaming) this.#budget.setStreaming(this, isStreaming)
    this.#readAhead = step.state
    this.wantedEnd = Math.ceil((step.state.frontier + step.state.windowBytes) / blockSizeBytes)
    this.#blocks.resume()
    return step
  }

  /** Requests the read's own blocks together with the first ones ahead; the rest follows in several requests at once. */
  #fetchAhead(run: BlockRun, arrival: Arrival, { ahead, requestBytes, hasSought }: ReadAheadStep): void {
    const blocks = this.#blocks
    if (hasSought) blocks.release(this)
    if (ahead === undefined) return
    let { first, end } = blocksOf(ahead)
    const blocksPerRequest = Math.max(1, Math.floor(requestBytes / blockSizeBytes))
    if (arrival === 'missing' && first <= run.end) {
      first = Math.min(end, run.first + blocksPerRequest)
      blocks.request({ first: run.first, end: Math.max(run.end, first) }, 'foreground', this)
    }
    for (const part of splitRun({ first, end }, blocksPerRequest)) blocks.request(part, 'read-ahead', this)
  }
}

function partOf(run: BlockRun, { offset, length }: Extent): BlockPart {
  const from = offset - run.first * blockSizeBytes
  return { block: run.first, from, to: from + length }
}

/** Views of the extent's bytes in the blocks of a run. */
function slice(blocks: readonly Block[], run: BlockRun, extent: Extent): readonly Uint8Array[] {
  const from = extent.offset - run.first * blockSizeBytes
  const [only] = blocks
  if (only !== undefined && blocks.length === 1 && from === 0 && extent.length === blockSizeBytes) return only
  const pieces: Uint8Array[] = []
  let left = extent.length
  let skip = from
  for (const block of blocks) {
    const to = Math.min(blockSizeBytes, skip + left)
    appendSlice(pieces, block, skip, to)
    left -= to - skip
    skip = 0
  }
  return pieces
}
