// The answer to one READDIR or READDIRPLUS: packed entries after a gap for the message's header.

import type { DirectoryEntry } from '../../../fs/operations.ts'
import { typeBits, writeEntryOut } from '../encode.ts'
import { set64, setU32, viewOf } from '../fields.ts'
import { dirent, direntplus, entryOut, outHeader } from '../protocol-structs.ts'

/** Answers are at most 32 KiB on the kernels of today; a few buffers serve any number of listings in turn. */
const spareBuffers: Buffer[] = []
const maximumSpares = 4

export class Listing {
  readonly bytes: Buffer
  /** Length of the message so far, header included. */
  length: number = outHeader.sizeOf
  /** Nodes the kernel holds a reference on once it has this answer. */
  readonly remembered: number[] = []

  readonly #view: DataView
  readonly #end: number
  readonly #withAttributes: boolean
  readonly #remember: (ino: number) => void

  /** `size`: most bytes the kernel takes, without the header. */
  constructor(size: number, withAttributes: boolean, remember: (ino: number) => void) {
    this.#end = outHeader.sizeOf + size
    const spare = spareBuffers.pop()
    this.bytes = spare !== undefined && spare.length >= this.#end ? spare : Buffer.alloc(this.#end)
    this.#view = viewOf(this.bytes)
    this.#withAttributes = withAttributes
    this.#remember = remember
  }

  /** Adds `.` or `..`, with node id 0: the kernel knows their nodes, and counts no reference. False when it does not fit. */
  addOwn(name: string, ino: number, cookie: number): boolean {
    const entrySize = this.#sizeOf(name)
    if (this.length + entrySize > this.#end) return false
    const start = this.#withAttributes ? this.length + entryOut.sizeOf : this.length
    if (this.#withAttributes) this.bytes.fill(0, this.length, start)
    this.#writeDirent(start, { name, ino, kind: 'folder' }, cookie)
    this.length += entrySize
    return true
  }

  /** Adds a child. False when it does not fit. */
  add(child: DirectoryEntry, cookie: number): boolean {
    const entrySize = this.#sizeOf(child.name)
    if (this.length + entrySize > this.#end) return false
    if (this.#withAttributes) {
      const entry = child.entry()
      // Node id 0: a name without attributes; the kernel looks it up when a program wants them.
      if (entry === undefined) this.bytes.fill(0, this.length, this.length + entryOut.sizeOf)
      else {
        writeEntryOut(this.#view, this.length, entry)
        this.#remember(child.ino)
        this.remembered.push(child.ino)
      }
    }
    this.#writeDirent(this.#withAttributes ? this.length + direntplus.dirent : this.length, child, cookie)
    this.length += entrySize
    return true
  }

  /** Gives the buffer to the next listing. */
  recycle(): void {
    if (spareBuffers.length < maximumSpares) spareBuffers.push(this.bytes)
  }

  #sizeOf(name: string): number {
    const fixed = this.#withAttributes ? direntplus.sizeOf : dirent.sizeOf
    return align(fixed + Buffer.byteLength(name))
  }

  #writeDirent(start: number, child: Omit<DirectoryEntry, 'entry'>, cookie: number): void {
    const nameAt = start + dirent.sizeOf
    const nameBytes = this.bytes.write(child.name, nameAt)
    set64(this.#view, start + dirent.ino, child.ino)
    set64(this.#view, start + dirent.off, cookie)
    setU32(this.#view, start + dirent.namelen, nameBytes)
    setU32(this.#view, start + dirent.type, typeBits(child.kind) >>> 12)
    this.bytes.fill(0, nameAt + nameBytes, start + align(dirent.sizeOf + nameBytes))
  }
}

/** FUSE_REC_ALIGN: entries start at multiples of 8 bytes. */
function align(length: number): number {
  return (length + 7) & ~7
}
