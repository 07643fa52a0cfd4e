// One request of the kernel: its header, its fields while its bytes are ours, and who asks (`Caller`).

import type { Caller } from '../../fs/operations.ts'
import { maxWriteBytes, type Message } from './channel.ts'
import { isDying } from './dying-callers.ts'
import { getI64, getU32, getU64 } from './fields.ts'
import { decodeName, endOfName } from './names.ts'
import { inHeader } from './protocol-structs.ts'
import { isRunning, programOf } from './program-of.ts'

/** The longest READ, and what is checked around it. */
const room = Buffer.allocUnsafeSlow(maxWriteBytes + 64 * 1024)

/** Fields and names may be read only until the handler's call returned: then the buffer takes the next request. */
export class Request implements Caller {
  readonly opcode: number
  readonly unique: number
  readonly nodeid: number
  readonly uid: number
  readonly gid: number
  /** The thread's id as the daemon's pid namespace sees it; 0 when it cannot. */
  readonly pid: number
  /** True once the kernel has its answer, whatever the filesystem still does. */
  isAnswered = false
  /** True for a request that changes nothing: its caller loses nothing by EINTR. */
  onlyLooks = false

  readonly #message: Message
  readonly #length: number
  #abort: AbortController | undefined
  #isAborted = false

  constructor(message: Message, length: number) {
    const { view } = message
    this.#message = message
    this.#length = length
    this.opcode = getU32(view, inHeader.opcode)
    this.unique = getU64(view, inHeader.unique)
    this.nodeid = getU64(view, inHeader.nodeid)
    this.uid = getU32(view, inHeader.uid)
    this.gid = getU32(view, inHeader.gid)
    this.pid = getU32(view, inHeader.pid)
  }

  /** Made on first use: most requests are answered before anybody asks. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController()
      if (this.#isAborted) this.#abort.abort()
    }
    return this.#abort.signal
  }

  /** One for all: an answer is written before the next request is read. */
  get room(): Uint8Array {
    return room
  }

  get program(): string | undefined {
    return programOf(this.pid)
  }

  get isDying(): boolean {
    return isDying(this.pid)
  }

  get isRunning(): (program: string) => boolean {
    return isRunning
  }

  abort(): void {
    this.#isAborted = true
    this.#abort?.abort()
  }

  u32(field: number): number {
    return getU32(this.#message.view, inHeader.sizeOf + field)
  }

  u64(field: number): number {
    return getU64(this.#message.view, inHeader.sizeOf + field)
  }

  i64(field: number): number {
    return getI64(this.#message.view, inHeader.sizeOf + field)
  }

  /** A view of the receive buffer. */
  data(from: number, length: number): Uint8Array {
    const start = inHeader.sizeOf + from
    return this.#message.bytes.subarray(start, start + length)
  }

  /** The name at `from`, for making it: EILSEQ when it is not UTF-8. */
  newName(from: number): string {
    return this.#name(inHeader.sizeOf + from, 'EILSEQ')
  }

  /** The name at `from`, for finding it: ENOENT when it is not UTF-8, since no such name can exist. */
  knownName(from: number): string {
    return this.#name(inHeader.sizeOf + from, 'ENOENT')
  }

  /** Where the name after the one at `from` starts. */
  nameAfter(from: number): number {
    return endOfName(this.#message.bytes, inHeader.sizeOf + from, this.#length) + 1 - inHeader.sizeOf
  }

  #name(start: number, invalid: 'EILSEQ' | 'ENOENT'): string {
    const { bytes } = this.#message
    return decodeName(bytes, start, endOfName(bytes, start, this.#length), invalid)
  }
}
