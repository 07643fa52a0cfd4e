// The open /dev/fuse: whole messages in, whole messages out. Requests come through libuv's epoll, never through its
// thread pool: a reader there would starve behind every other file, DNS and crypto job. Knows no opcode.

import { write, writeSync, writevSync } from 'node:fs'
import type { Log } from '../../log.ts'
import { Receiver, type Channel, type Receive } from './channel.ts'
import { listen, type Listener } from './listener.ts'

export class DeviceChannel implements Channel {
  readonly closed: Promise<void>
  readonly #fd: number
  readonly #receiver: Receiver
  readonly #listener: Listener
  #isOpen = true
  #notification: Promise<boolean> = Promise.resolve(false)

  /** Takes over `fd`, an open /dev/fuse that is mounted. */
  constructor(fd: number, receive: Receive, log: Log) {
    this.#fd = fd
    this.#receiver = new Receiver(receive)
    this.#listener = listen(
      fd,
      {
        buffer: () => this.#receiver.bytes,
        received: (length) => this.#receiver.deliver(length),
        ended: () => (this.#isOpen = false),
        // A write still in the thread pool must never meet another file under this number.
        beforeClose: async () => void (await this.#notification),
      },
      log,
    )
    this.closed = this.#listener.closed
  }

  send(message: Uint8Array, length: number): boolean {
    if (!this.#isOpen) return false
    try {
      writeSync(this.#fd, message, 0, length, null)
      return true
    } catch (error) {
      return this.#refused(error)
    }
  }

  sendAll(parts: readonly Uint8Array[]): boolean {
    if (!this.#isOpen) return false
    try {
      writevSync(this.#fd, parts)
      return true
    } catch (error) {
      return this.#refused(error)
    }
  }

  notify(message: Uint8Array): Promise<boolean> {
    if (!this.#isOpen) return Promise.resolve(false)
    // Most refusals are ENOENT: the kernel has nothing cached under that node or name, so there is nothing to do.
    this.#notification = new Promise((resolve) => {
      write(this.#fd, message, 0, message.length, null, (error) =>
        resolve(error === null || error.code === 'ENOENT'),
      )
    })
    return this.#notification
  }

  close(): void {
    this.#isOpen = false
    this.#listener.close()
  }

  /** ENOENT: the request was interrupted and its caller is gone. ENODEV: so is the mount. Others are our own mistakes. */
  #refused(error: unknown): boolean {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ENODEV' || code === 'ECONNABORTED') return false
    throw error
  }
}
