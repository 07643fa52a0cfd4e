// The uplink as our own uploads fill it. A question waits behind the bytes sent before it, so its answer may be late because of
// our own uploads, which says nothing about the service. Estimates that delay from the bytes of content sent; makes no calls.

import type { BytesContent } from '../../api/types.ts'

/** A shorter upload delays other calls only briefly, and its time shows only the service's latency. */
const countedBytes = 16 * 1024
/** Before any measurement a slow line is assumed: 1 Mbit/s, less what base64 adds. The weight of this soon vanishes. */
const assumedBytes = 94_000
const assumedMs = 1_000
/** Half-life of the weight of a measurement (ms); only time with an upload under way counts. */
const halfLifeMs = 10_000
/** Most bytes that systems and proxies buffer per connection before any of them has arrived. */
const bufferedBytes = 8 * 1024 * 1024
/** Longest silence that our own uploads can explain (ms). */
const longestMs = 60_000
/** Weight of the newest round trip in the moving average. */
const newest = 1 / 4
/** The line is full if round trips have grown by more than this (ms). */
const fullAfterMs = 1_000
/** Uploads at once on a full line: more would only wait; a single one would keep small documents behind a large one. */
const leastAtOnce = 2

/** One upload under way. */
interface CountedUpload {
  /** Bytes that were sent, and may not have arrived. */
  bytes: number
}

export class Uplink {
  readonly #now: () => number
  readonly #carried = new Set<CountedUpload>()
  /** Bytes that arrived lately, and the time they took: sums whose parts lose weight with time. */
  #bytes = assumedBytes
  #ms = assumedMs
  /** Time when bytes last arrived, or when the first of those under way were sent (ms). */
  #movedAt = Number.NEGATIVE_INFINITY
  /** The shortest round trip, and the moving average. */
  #shortestMs = Infinity
  #roundTripMs = 0

  constructor(now: () => number) {
    this.#now = now
  }

  /** Silence since a time (ms), without the delay that our own uploads explain. */
  silentMs(since: number): number {
    const passedMs = this.#now() - since
    const lateMs = Math.min(longestMs, Math.max(this.#drainMs, this.#movedAt - since))
    return Math.max(0, passedMs - Math.max(0, lateMs))
  }

  /** Notes that a question was answered after a silence of so long (ms). */
  answered(roundTripMs: number): void {
    this.#shortestMs = Math.min(this.#shortestMs, roundTripMs)
    this.#roundTripMs += (roundTripMs - this.#roundTripMs) * newest
  }

  /** Returns how many uploads, of at most `most`, should be under way at once. */
  atOnce(most: number): number {
    const isFull = this.#underWayBytes > 0 && this.#roundTripMs - this.#shortestMs > fullAfterMs
    return isFull ? Math.min(most, leastAtOnce) : most
  }

  /** Notes that the line is free: all bytes sent so far have arrived, or are lost. */
  markFree(): void {
    for (const upload of this.#carried) upload.bytes = 0
  }

  /** Calls `send` with the same content, and counts its bytes while they are sent. */
  async carry<T>(content: BytesContent, send: (content: BytesContent) => Promise<T>): Promise<T> {
    if (content.size < countedBytes) return send(content)
    const carried: CountedUpload = { bytes: 0 }
    const open = (signal: AbortSignal): AsyncIterable<Uint8Array> =>
      this.#counted(carried, content.open(signal))
    this.#carried.add(carried)
    try {
      const answer = await send({ ...content, open })
      this.#arrived(carried, carried.bytes)
      return answer
    } finally {
      this.#carried.delete(carried)
    }
  }

  async *#counted(carried: CountedUpload, chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    // Bytes of an earlier attempt are not under way any more.
    carried.bytes = 0
    for await (const chunk of chunks) {
      if (this.#underWayBytes === 0) this.#movedAt = this.#now()
      carried.bytes += chunk.length
      if (carried.bytes > bufferedBytes) this.#arrived(carried, carried.bytes - bufferedBytes)
      yield chunk
    }
  }

  #arrived(carried: CountedUpload, bytes: number): void {
    if (bytes === 0) return
    carried.bytes -= bytes
    const now = this.#now()
    const elapsedMs = now - this.#movedAt
    const faded = 2 ** (-elapsedMs / halfLifeMs)
    this.#bytes = this.#bytes * faded + bytes
    this.#ms = this.#ms * faded + elapsedMs
    this.#movedAt = now
  }

  get #underWayBytes(): number {
    let sum = 0
    for (const { bytes } of this.#carried) sum += bytes
    return sum
  }

  /** Estimated time for the bytes under way to arrive (ms). Grows while none arrive, as the line may have become slower. */
  get #drainMs(): number {
    const bytes = this.#underWayBytes
    return bytes === 0 ? 0 : (bytes * (this.#ms + this.#now() - this.#movedAt)) / this.#bytes
  }
}
