// Answers to the kernel: one message each, header and body in one write. One `Reply` serves every request of a session, so
// each answer is written at once.

import { set64, setI32, setU32, viewOf } from './fields.ts'
import { outHeader } from './protocol-structs.ts'

/** Sends whole messages. False: the kernel no longer waits for this answer (interrupted, or the mount is gone). */
export interface MessageSink {
  send(message: Uint8Array, length: number): boolean
  sendAll(parts: readonly Uint8Array[]): boolean
}

/** Up to this total, chunks are copied after the header: cheaper than a write of several parts. */
const copyBytes = 8 * 1024

/** IOV_MAX of Linux, less the header. */
const maximumParts = 1023

export class Reply {
  /** Body of an answer with a structure: write here, then call `struct(length)`. */
  readonly body: DataView
  /** Id of the request that is answered; set it before each answer. */
  unique = 0
  readonly #bytes = Buffer.alloc(outHeader.sizeOf + copyBytes)
  readonly #view = viewOf(this.#bytes)
  readonly #sink: MessageSink

  constructor(sink: MessageSink) {
    this.#sink = sink
    this.body = viewOf(this.#bytes.subarray(outHeader.sizeOf))
  }

  error(errno: number): boolean {
    this.#header(outHeader.sizeOf, -errno)
    return this.#sink.send(this.#bytes, outHeader.sizeOf)
  }

  empty(): boolean {
    return this.error(0)
  }

  /** Sends the first `length` bytes of `body`. */
  struct(length: number): boolean {
    this.#header(outHeader.sizeOf + length, 0)
    return this.#sink.send(this.#bytes, outHeader.sizeOf + length)
  }

  /** Sends an answer whose body is these bytes. */
  chunks(chunks: readonly Uint8Array[]): boolean {
    let length = 0
    for (const chunk of chunks) length += chunk.length
    if (length <= copyBytes) {
      let at = outHeader.sizeOf
      for (const chunk of chunks) {
        this.#bytes.set(chunk, at)
        at += chunk.length
      }
      return this.struct(length)
    }
    this.#header(outHeader.sizeOf + length, 0)
    const header = this.#bytes.subarray(0, outHeader.sizeOf)
    return this.#sink.sendAll(
      chunks.length > maximumParts ? [header, Buffer.concat(chunks)] : [header, ...chunks],
    )
  }

  /** Sends the first `length` bytes of `bytes`, whose gap for the header is filled in here. */
  message(bytes: Buffer, length: number): boolean {
    this.#header(length, 0)
    bytes.set(this.#bytes.subarray(0, outHeader.sizeOf))
    return this.#sink.send(bytes, length)
  }

  #header(length: number, error: number): void {
    setU32(this.#view, outHeader.len, length)
    setI32(this.#view, outHeader.error, error)
    set64(this.#view, outHeader.unique, this.unique)
  }
}
