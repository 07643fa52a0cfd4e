// The line as our own uploads fill it: a question stands in line behind what was sent before it, so its answer is late for our
// own sake, and tells nothing of the service. Counts bytes of content; asks nobody.

import type { BytesContent } from '../../api/types.ts'

/** A shorter upload delays nobody for long, and tells of the service's latency only. */
const tellingBytes = 16 * 1024
/** Until something was measured the line is taken for a slow one: 1 Mbit/s, less what base64 adds. It soon weighs nothing. */
const assumedBytes = 94_000
const assumedMs = 1_000
/** A measurement so long ago weighs half; only time with an upload under way counts. */
const halfLifeMs = 10_000
/** Systems and proxies take so much of a connection at most before any of it has arrived. */
const heldBytes = 8 * 1024 * 1024
/** No silence is excused for longer. */
const longestMs = 60_000
/** The newest round trip weighs so much in what is believed of all. */
const newest = 1 / 4
/** A round trip that has grown by more than this says that the line is full. */
const fullAfterMs = 1_000
/** More would only stand in line. One alone would keep small documents behind a large one. */
const leastAtOnce = 2

/** One upload under way. */
interface Carried {
  /** Taken from it, and perhaps not arrived. */
  bytes: number
}

export class Uplink {
  readonly #now: () => number
  readonly #carried = new Set<Carried>()
  /** Bytes that arrived lately, and the time they took. */
  #bytes = assumedBytes
  #ms = assumedMs
  /** When something arrived last, or the first of what is under way was sent. */
  #movedAt = Number.NEGATIVE_INFINITY
  #usualMs = Infinity
  #roundTripMs = 0

  constructor(now: () => number) {
    this.#now = now
  }

  /** How long (ms) nothing has been heard since then that should have been: what our own uploads excuse does not count. */
  silentMs(since: number): number {
    const passedMs = this.#now() - since
    const lateMs = Math.min(longestMs, Math.max(this.#drainMs, this.#movedAt - since))
    return Math.max(0, passedMs - Math.max(0, lateMs))
  }

  /** A question was answered after a silence of so long. */
  answered(roundTripMs: number): void {
    this.#usualMs = Math.min(this.#usualMs, roundTripMs)
    this.#roundTripMs += (roundTripMs - this.#roundTripMs) * newest
  }

  /** How many of `most` uploads should be under way at once. */
  atOnce(most: number): number {
    const isFull = this.#underWayBytes > 0 && this.#roundTripMs - this.#usualMs > fullAfterMs
    return isFull ? Math.min(most, leastAtOnce) : most
  }

  /** The line is free: what was sent so far has arrived, or is lost. */
  isFree(): void {
    for (const one of this.#carried) one.bytes = 0
  }

  /** Runs `send` with the same content, whose bytes are counted while it is sent. */
  async carry<T>(content: BytesContent, send: (content: BytesContent) => Promise<T>): Promise<T> {
    if (content.size < tellingBytes) return send(content)
    const carried: Carried = { bytes: 0 }
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

  async *#counted(carried: Carried, chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    // Of an attempt before this one nothing is under way any more.
    carried.bytes = 0
    for await (const chunk of chunks) {
      if (this.#underWayBytes === 0) this.#movedAt = this.#now()
      carried.bytes += chunk.length
      if (carried.bytes > heldBytes) this.#arrived(carried, carried.bytes - heldBytes)
      yield chunk
    }
  }

  #arrived(carried: Carried, bytes: number): void {
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

  /** The time that as many bytes took lately. While nothing arrives, it grows, too: the line may have become another one. */
  get #drainMs(): number {
    const bytes = this.#underWayBytes
    return bytes === 0 ? 0 : (bytes * (this.#ms + this.#now() - this.#movedAt)) / this.#bytes
  }
}
