// One request of the kernel: its header, its fields, and the program that sent it (`Caller`).

import { Borrowed, type Caller } from '../../fs/operations.ts'
import { maxWriteBytes, type Message } from './channel.ts'
import { isDying } from './dying-callers.ts'
import { getI64, getU32, getU64 } from './fields.ts'
import { decodeName, endOfName } from './names.ts'
import { inHeader } from './protocol-structs.ts'
import { isRunning, programOf } from './program-of.ts'
import type { UnheardNames } from './unheard-names.ts'

/** Memory for the answer to a READ: the longest one, and the rest of the pages at its ends, which are checked whole. */
const sharedReadBuffer = Buffer.allocUnsafeSlow(maxWriteBytes + 64 * 1024)

/** Its fields, data and names may be read only until the handler's `call` returns: then the next request overwrites the buffer. */
export class Request implements Caller {
  readonly opcode: number
  readonly unique: number
  readonly nodeid: number
  readonly uid: number
  readonly gid: number
  /** Id of the calling thread in the daemon's pid namespace; 0 for a thread outside it. */
  readonly pid: number
  /** True once an error was sent as the answer, though the filesystem may still work on the request. */
  isAnswered = false
  /** True for a request that changes nothing, so that it may be given up with EINTR. Set when its answer is not there at once. */
  isReadOnly = false

  readonly #message: Message
  readonly #unheard: UnheardNames
  readonly #length: number
  #abort: AbortController | undefined
  #isAborted = false
  #borrowed: Borrowed | undefined

  constructor(message: Message, length: number, unheard: UnheardNames) {
    const { view } = message
    this.#message = message
    this.#length = length
    this.#unheard = unheard
    this.opcode = getU32(view, inHeader.opcode)
    this.unique = getU64(view, inHeader.unique)
    this.nodeid = getU64(view, inHeader.nodeid)
    this.uid = getU32(view, inHeader.uid)
    this.gid = getU32(view, inHeader.gid)
    this.pid = getU32(view, inHeader.pid)
  }

  /** Aborted when the request is given up. Created on first use: most requests need none. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController()
      if (this.#isAborted) this.#abort.abort()
    }
    return this.#abort.signal
  }

  /** One buffer for all requests: a read that uses it is answered before the next request is handled. */
  get readBuffer(): Uint8Array {
    return sharedReadBuffer
  }

  get borrowed(): Borrowed {
    return (this.#borrowed ??= new Borrowed())
  }

  /** Called once the answer was sent, and nothing more will come of this request. */
  over(): void {
    this.#borrowed?.end()
  }

  /** Key of the calling process: `PID@INODE` of /proc/PID; undefined where /proc does not show it. */
  get program(): string | undefined {
    return programOf(this.pid)
  }

  /** True if a pending signal ends the calling thread; read from /proc on each access. */
  get isDying(): boolean {
    return isDying(this.pid)
  }

  /** Tells if a program (a value of `program`) still runs. */
  get isRunning(): (program: string) => boolean {
    return isRunning
  }

  /** False if the kernel may still have another node cached at this name (unheard-names.ts). */
  knows(parent: number, name: string, ino: number): boolean {
    return this.#unheard.knows(parent, name, ino)
  }

  /** Records the answer to a LOOKUP of `name`: the node's number, or undefined if the name does not exist. */
  foundByName(name: string, ino: number | undefined): void {
    this.#unheard.lookedUp(this.nodeid, name, ino)
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

  /** Returns data that follows the structure: a view of the receive buffer, not a copy. */
  data(from: number, length: number): Uint8Array {
    const start = inHeader.sizeOf + from
    return this.#message.bytes.subarray(start, start + length)
  }

  /** Returns the name at `from`, which is to be created. Throws EILSEQ if it is not UTF-8. */
  newName(from: number): string {
    return this.#name(inHeader.sizeOf + from, 'EILSEQ')
  }

  /** Returns the name at `from`, which is to be found. Throws ENOENT if it is not UTF-8, since no such name can exist. */
  knownName(from: number): string {
    return this.#name(inHeader.sizeOf + from, 'ENOENT')
  }

  /** Returns the start of the name that follows the one at `from`. */
  nameAfter(from: number): number {
    return endOfName(this.#message.bytes, inHeader.sizeOf + from, this.#length) + 1 - inHeader.sizeOf
  }

  #name(start: number, invalid: 'EILSEQ' | 'ENOENT'): string {
    const { bytes } = this.#message
    return decodeName(bytes, start, endOfName(bytes, start, this.#length), invalid)
  }
}
