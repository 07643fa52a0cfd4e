// The connection over an open /dev/fuse. Requests come through libuv's epoll where it can be had, not through its thread
// pool: a reader there would starve behind every other file, DNS and crypto job. Knows no opcode.

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
        // The descriptor's number may be another file's once it is closed: a write in the thread pool must end before.
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
    // ENOENT: the kernel caches nothing of that node or name, so there is nothing to invalidate.
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

  /** Returns false for a request nobody waits for: ENOENT (it was interrupted), or a mount that is gone. Throws bugs of ours. */
  #refused(error: unknown): boolean {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ENODEV' || code === 'ECONNABORTED') return false
    throw error
  }
}
