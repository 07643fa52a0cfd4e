// The session between the kernel and a filesystem in memory, with the kernel's side played by the test: what it hears when
// answers come late, are refused, or are no longer wanted.

import { afterEach, describe, expect, test } from 'vitest'
import type { Receive } from '../../src/fuse/kernel/channel.ts'
import { getI64, getU32, getU64, set64, setU32, viewOf } from '../../src/fuse/kernel/fields.ts'
import { operationTable } from '../../src/fuse/kernel/operations/table.ts'
import { opcode } from '../../src/fuse/kernel/protocol-opcodes.ts'
import {
  entryOut,
  inHeader,
  openOut,
  outHeader,
  readIn,
  writeIn,
} from '../../src/fuse/kernel/protocol-structs.ts'
import { Session } from '../../src/fuse/kernel/session.ts'
import type { Operations } from '../../src/fs/operations.ts'
import { silentLog } from '../../src/log.ts'
import { HeldOperations } from '../support/held-operations.ts'
import { MemoryFileSystem } from '../support/memory-file-system.ts'

/** The kernel: sends requests, keeps answers, and can refuse them. */
class Kernel {
  readonly answers: { unique: number; error: number; body: DataView }[] = []
  readonly logged: string[] = []
  refuses = false
  readonly session: Session
  #receive: Receive = () => undefined
  #close: () => void = () => {}
  #lastUnique = 0

  constructor(operations: Operations) {
    const log = { ...silentLog, warn: (_: object, message: string) => void this.logged.push(message) }
    this.session = new Session(
      (receive) => {
        this.#receive = receive
        return {
          closed: new Promise((resolve) => (this.#close = resolve)),
          send: (message, length) => this.#take(message.slice(0, length)),
          sendAll: (parts) => this.#take(Buffer.concat(parts)),
          notify: () => Promise.resolve(true),
          close: () => this.#close(),
        }
      },
      operations,
      log,
      operationTable,
    )
  }

  /** Answers the request's number; `kept` ends when its bytes may be used again. */
  ask(
    code: number,
    nodeid: number,
    body: Uint8Array,
  ): { unique: number; kept: Promise<void> | undefined; bytes: Buffer } {
    const bytes = Buffer.alloc(inHeader.sizeOf + body.length)
    const view = viewOf(bytes)
    const unique = (this.#lastUnique += 2)
    setU32(view, inHeader.len, bytes.length)
    setU32(view, inHeader.opcode, code)
    set64(view, inHeader.unique, unique)
    set64(view, inHeader.nodeid, nodeid)
    bytes.set(body, inHeader.sizeOf)
    return { unique, kept: this.#receive({ bytes, view }, bytes.length), bytes }
  }

  interrupt(unique: number): void {
    const body = new Uint8Array(8)
    set64(viewOf(body), 0, unique)
    this.ask(opcode.interrupt, 0, body)
  }

  end(): void {
    this.#close()
  }

  #take(message: Uint8Array): boolean {
    if (this.refuses) return false
    const view = viewOf(message)
    const error = getI64(view, outHeader.error) | 0
    this.answers.push({
      unique: getU64(view, outHeader.unique),
      error,
      body: viewOf(message.subarray(outHeader.sizeOf)),
    })
    return true
  }
}

const name = (text: string): Buffer => Buffer.from(`${text}\0`)
const kernels: Kernel[] = []

function start(): { kernel: Kernel; files: MemoryFileSystem; held: HeldOperations } {
  const files = new MemoryFileSystem()
  files.put('/file', Buffer.from('content'))
  const held = new HeldOperations(files)
  const kernel = new Kernel(held.operations)
  kernels.push(kernel)
  return { kernel, files, held }
}

/** OPEN, and the handle it brought. */
function open(kernel: Kernel, nodeid: number, flags: number): number {
  const body = new Uint8Array(8)
  setU32(viewOf(body), 0, flags)
  kernel.ask(opcode.open, nodeid, body)
  return getU64(kernel.answers.at(-1)?.body ?? viewOf(new Uint8Array(8)), openOut.fh)
}

afterEach(() => {
  for (const kernel of kernels.splice(0)) kernel.end()
})

describe('a session', () => {
  test('answers at once what the filesystem answers at once', () => {
    const { kernel } = start()
    const { unique } = kernel.ask(opcode.lookup, 1, name('file'))
    expect(kernel.answers).toHaveLength(1)
    expect(kernel.answers[0]).toMatchObject({ unique, error: 0 })
    expect(getU64(kernel.answers[0]?.body ?? viewOf(new Uint8Array(8)), entryOut.nodeid)).toBe(2)
  })

  test('answers ENOSYS to what it does not know, and nothing to FORGET', () => {
    const { kernel, files } = start()
    kernel.ask(opcode.poll, 2, new Uint8Array(24))
    kernel.ask(4000, 2, new Uint8Array(8))
    expect(kernel.answers.map(({ error }) => error)).toEqual([-38, -38])
    kernel.ask(opcode.lookup, 1, name('file'))
    expect(files.rememberedNodes).toBe(1)
    const one = new Uint8Array(8)
    set64(viewOf(one), 0, 1)
    kernel.ask(opcode.forget, 2, one)
    expect(files.rememberedNodes).toBe(0)
    expect(kernel.answers).toHaveLength(3)
  })

  test('gives back the references and handles of answers the kernel refuses', async () => {
    const { kernel, files } = start()
    kernel.refuses = true
    kernel.ask(opcode.lookup, 1, name('file'))
    kernel.ask(opcode.mkdir, 1, Buffer.concat([new Uint8Array(8), name('folder')]))
    kernel.ask(opcode.create, 1, Buffer.concat([new Uint8Array(16), name('new')]))
    open(kernel, 2, 0)
    kernel.ask(opcode.opendir, 1, new Uint8Array(8))
    await expect.poll(() => [files.rememberedNodes, files.openHandles]).toEqual([0, 0])
  })

  test('gives back what a refused READDIRPLUS would have counted', () => {
    const { kernel, files } = start()
    kernel.ask(opcode.opendir, 1, new Uint8Array(8))
    const body = new Uint8Array(readIn.sizeOf)
    set64(viewOf(body), readIn.fh, 1)
    setU32(viewOf(body), readIn.size, 4096)
    kernel.ask(opcode.readdirplus, 1, body)
    expect(files.rememberedNodes).toBe(1)
    const one = new Uint8Array(8)
    set64(viewOf(one), 0, 1)
    kernel.ask(opcode.forget, 2, one)
    kernel.refuses = true
    kernel.ask(opcode.readdirplus, 1, body)
    expect(files.rememberedNodes).toBe(0)
  })

  test('leaves the bytes of a WRITE alone until the filesystem has answered', async () => {
    const { kernel, files, held } = start()
    const fh = open(kernel, 2, 1)
    held.hold('write', false)
    const body = Buffer.concat([new Uint8Array(writeIn.sizeOf), Buffer.from('CONTENT')])
    set64(viewOf(body), writeIn.fh, fh)
    setU32(viewOf(body), writeIn.size, 7)
    const { kept } = kernel.ask(opcode.write, 2, body)
    expect(kept).toBeInstanceOf(Promise)
    held.letGo('write')
    await kept
    expect(getU32(kernel.answers.at(-1)?.body ?? viewOf(new Uint8Array(8)), 0)).toBe(7)
    expect(Buffer.concat(files.find('/file')?.bytes.read(0, 100) ?? []).toString()).toBe('CONTENT')
  })

  test('answers an interrupted flush once, with what became of it', async () => {
    const { kernel, held } = start()
    const fh = open(kernel, 2, 1)
    held.hold('flush', true)
    const body = new Uint8Array(24)
    set64(viewOf(body), 0, fh)
    const { unique } = kernel.ask(opcode.flush, 2, body)
    kernel.interrupt(unique)
    kernel.interrupt(unique)
    expect(kernel.answers).toHaveLength(1)
    expect(held.waiting).toBe(1)
    held.letGo('flush')
    await expect.poll(() => [held.waiting, kernel.session.waitingRequests]).toEqual([0, 0])
    expect(kernel.answers.slice(1)).toMatchObject([{ unique, error: 0 }])
  })

  test('answers EIO to errors without a name, and says in the log what it was', () => {
    const { kernel, files } = start()
    files.statfs = () => {
      throw new TypeError('a bug')
    }
    kernel.ask(opcode.statfs, 1, new Uint8Array())
    expect(kernel.answers[0]?.error).toBe(-5)
    expect(kernel.logged).toEqual(['answered EIO'])
  })

  test('aborts every waiting call when the kernel lets go', async () => {
    const { kernel, held } = start()
    held.hold('lookup', false)
    kernel.ask(opcode.lookup, 1, name('file'))
    expect(held.waiting).toBe(1)
    kernel.end()
    await expect.poll(() => held.waiting).toBe(0)
  })
})
