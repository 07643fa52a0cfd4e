// The connection to the kernel, whichever way it goes: whole messages in, whole messages out. Knows no opcode.

import { viewOf } from './fields.ts'
import type { MessageSink } from './reply.ts'

/** One WRITE request carries at most this much; also the longest READ asked for. */
export const maxWriteBytes: number = 1024 * 1024

/** The kernel refuses to fill buffers shorter than its longest request: data, headers and a page to spare. */
const receiveBytes: number = maxWriteBytes + 4096

/** A receive buffer with the view its fields are read through. */
export interface Message {
  readonly bytes: Buffer
  readonly view: DataView
}

export interface Channel extends MessageSink {
  /** Resolves when the kernel has let go of the connection and nothing more can be sent. */
  readonly closed: Promise<void>
  /**
   * Sends a message that may have to wait for the kernel's locks. Resolves when the kernel took or refused it; call it
   * again only then. True where the kernel is known to have understood it.
   */
  notify(message: Uint8Array): Promise<boolean>
  /** Lets go of the connection: users of a mount that is still there get ENOTCONN. */
  close(): void
}

/**
 * Takes one request of `length` bytes. Answering a promise keeps the message's bytes until it is over; otherwise they
 * take the next request.
 */
export type Receive = (message: Message, length: number) => Promise<void> | undefined

const maximumSpares = 4

/** The buffer requests arrive in, one after the other, and its successors while one is kept. */
export class Receiver {
  #message: Message = newMessage()
  readonly #spares: Message[] = []
  readonly #receive: Receive

  constructor(receive: Receive) {
    this.#receive = receive
  }

  /** Where the next request goes. */
  get bytes(): Buffer {
    return this.#message.bytes
  }

  /** A request of `length` bytes lies in `bytes`. */
  deliver(length: number): void {
    const message = this.#message
    const kept = this.#receive(message, length)
    if (kept === undefined) return
    this.#message = this.#spares.pop() ?? newMessage()
    void kept.finally(() => {
      if (this.#spares.length < maximumSpares) this.#spares.push(message)
    })
  }
}

function newMessage(): Message {
  const bytes = Buffer.allocUnsafeSlow(receiveBytes)
  return { bytes, view: viewOf(bytes) }
}
