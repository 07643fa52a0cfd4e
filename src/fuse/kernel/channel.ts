// The connection to the kernel, without its transport (device-channel.ts). It passes whole messages, and knows no opcode.

import { viewOf } from './fields.ts'
import type { MessageSink } from './reply.ts'

/** The most data (bytes) of one WRITE, and of one READ. */
export const maxWriteBytes: number = 1024 * 1024

/** Size of a receive buffer. The kernel fails a read into one that is shorter than its longest request. */
const receiveBytes: number = maxWriteBytes + 4096

/** A receive buffer; `view` is a DataView of the same bytes. */
export interface Message {
  readonly bytes: Buffer
  readonly view: DataView
}

export interface Channel extends MessageSink {
  /** Resolves when the connection has ended: no request comes, and nothing can be sent. */
  readonly closed: Promise<void>
  /**
   * Sends a notification, which may wait for the kernel's locks. Resolves when the kernel has taken it (true) or refused it
   * (false). One at a time: the next call comes after that.
   */
  notify(message: Uint8Array): Promise<boolean>
  /** Closes the connection: users of a mount that is still there get ENOTCONN. */
  close(): void
}

/**
 * Handles one request of `length` bytes. Where it returns a promise, the buffer is not reused until that is over; otherwise
 * the next request overwrites it.
 */
export type Receive = (message: Message, length: number) => Promise<void> | undefined

const maximumSpares = 4

/** The buffer that requests arrive in, one after another; replaced by a spare while a handler still uses it. */
export class Receiver {
  #message: Message = newMessage()
  readonly #spares: Message[] = []
  readonly #receive: Receive

  constructor(receive: Receive) {
    this.#receive = receive
  }

  /** The buffer for the next request. */
  get bytes(): Buffer {
    return this.#message.bytes
  }

  /** Passes on the request of `length` bytes that was read into `bytes`. */
  deliver(length: number): void {
    const message = this.#message
    const inUse = this.#receive(message, length)
    if (inUse === undefined) return
    this.#message = this.#spares.pop() ?? newMessage()
    void inUse.finally(() => {
      if (this.#spares.length < maximumSpares) this.#spares.push(message)
    })
  }
}

function newMessage(): Message {
  const bytes = Buffer.allocUnsafeSlow(receiveBytes)
  return { bytes, view: viewOf(bytes) }
}
