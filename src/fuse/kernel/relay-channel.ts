// The connection where no native code can receive /dev/fuse: a small python3 or perl program holds the descriptor and
// passes each message on. Slower than the device by two copies and a process, and otherwise the same.

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Socket } from 'node:net'
import { endianness } from 'node:os'
import { childEnvironment } from '../../child-environment.ts'
import { MountError } from '../driver.ts'
import { Receiver, type Channel, type Receive } from './channel.ts'
import { outHeader } from './protocol-structs.ts'
import { relayPrograms } from './relay-programs.ts'

export interface Relay {
  readonly child: ChildProcess
  readonly requests: Socket
  readonly notifications: Socket
}

/** Starts the first program there is, which mounts through fusermount3. Throws what fusermount3 says when it refuses. */
export async function startRelay(fusermountArgs: readonly string[]): Promise<Relay | undefined> {
  for (const { program, args } of relayPrograms) {
    const relay = await start(program, [...args, ...fusermountArgs])
    if (relay !== undefined) return relay
  }
  return undefined
}

/** Undefined when the program is not installed. */
async function start(program: string, args: readonly string[]): Promise<Relay | undefined> {
  const child = spawn(program, args, {
    cwd: '/',
    env: { ...childEnvironment(), LC_ALL: 'C' },
    // Of its own session: Ctrl-C at our terminal must not take the drive from us while we drain.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
  })
  const [, , , requests, notifications] = child.stdio
  let stderr = ''
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const missing = once(child, 'error').then(() => 'missing' as const)
  if (!(requests instanceof Socket) || !(notifications instanceof Socket)) return undefined
  // Their ends are noticed at `requests` alone.
  notifications.on('error', () => {})
  requests.on('error', () => {})
  // The program's first byte says that it is mounted; its exit before that, that it is not.
  const mounted = once(notifications, 'data').then(() => 'mounted' as const)
  const ended = once(child, 'close').then(() => 'ended' as const)
  const outcome = await Promise.race([missing, mounted, ended])
  if (outcome === 'missing') return undefined
  if (outcome === 'ended') throw new MountError('EPERM', stderr.trim())
  child.unref()
  return { child, requests, notifications }
}

export class RelayChannel implements Channel {
  readonly closed: Promise<void>
  readonly #relay: Relay
  readonly #receiver: Receiver
  #filled = 0
  #isOpen = true
  #acknowledge: () => void = () => {}

  constructor(relay: Relay, receive: Receive) {
    this.#relay = relay
    this.#receiver = new Receiver(receive)
    relay.requests.on('data', (chunk: Buffer) => this.#take(chunk))
    relay.notifications.on('data', () => this.#acknowledge())
    // Not by `once`, which rejects where an error comes first: an answer that is written as the program ends.
    this.closed = new Promise((resolve) => {
      relay.requests.once('close', () => {
        this.#isOpen = false
        this.#acknowledge()
        relay.notifications.destroy()
        resolve()
      })
    })
  }

  send(message: Uint8Array, length: number): boolean {
    // Copied: the sender reuses its bytes at once, and a full socket keeps them.
    if (this.#isOpen) this.#relay.requests.write(Buffer.from(message.subarray(0, length)))
    return this.#isOpen
  }

  sendAll(parts: readonly Uint8Array[]): boolean {
    if (this.#isOpen) this.#relay.requests.write(Buffer.concat(parts))
    return this.#isOpen
  }

  notify(message: Uint8Array): Promise<boolean> {
    if (!this.#isOpen) return Promise.resolve(false)
    this.#relay.notifications.write(message)
    // The relay does not tell the kernel's answer.
    return new Promise((resolve) => (this.#acknowledge = () => resolve(false)))
  }

  close(): void {
    this.#isOpen = false
    this.#relay.requests.destroy()
  }

  /** Messages come as a stream: each says its length in its first four bytes. */
  #take(chunk: Buffer): void {
    for (let at = 0; at < chunk.length;) {
      const { bytes } = this.#receiver
      const goal = this.#filled < 4 ? 4 : lengthOf(bytes)
      const count = Math.min(goal - this.#filled, chunk.length - at)
      chunk.copy(bytes, this.#filled, at, at + count)
      this.#filled += count
      at += count
      if (this.#filled < 4 || this.#filled < lengthOf(bytes)) continue
      const length = this.#filled
      this.#filled = 0
      this.#receiver.deliver(length)
    }
  }
}

function lengthOf(bytes: Buffer): number {
  return endianness() === 'LE' ? bytes.readUInt32LE(outHeader.len) : bytes.readUInt32BE(outHeader.len)
}
