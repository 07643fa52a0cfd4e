// The names of a folder with their records, packed: a million of them are a few buffers, not millions of objects. In the order
// of insertion; a name that is deleted and set again keeps its place (number). Each call makes a new record object.

import type { RemoteFile, RemoteFolder } from '../../api/types.ts'
import { GrowingBytes } from './growing-bytes.ts'
import { isDeleted, isFolder, markDeleted, nameOffset, PackedRecords } from './packed-records.ts'

type RemoteEntry = RemoteFile | RemoteFolder

/** Memory (bytes) of the objects around the buffers. */
const fixedBytes = 600
/** Holds the name that is looked for. Stored names are at most 255 bytes long; a longer one makes it grow. */
let scratch = Buffer.allocUnsafeSlow(1024)

export class PackedNames {
  readonly #bytes: GrowingBytes
  readonly #records = new PackedRecords()
  /** Start of the record of each place. */
  #starts: Uint32Array
  #places = 0
  #size = 0
  /** Hash table of the names: place + 1, or 0 for an empty slot. At most two thirds are used. */
  #index: Uint32Array
  /** The sum of the hashes of all names. */
  #sum = 0

  constructor(records: Iterable<RemoteEntry> = [], expected = 0) {
    this.#bytes = new GrowingBytes(64 + expected * 112)
    this.#starts = new Uint32Array(expected)
    this.#index = new Uint32Array(indexSize(expected))
    for (const record of records) this.set(record.name, record)
    this.trim()
  }

  /** Releases memory that was reserved for more names. */
  trim(): void {
    this.#bytes.trim()
    if (this.#starts.length > this.#places) this.#starts = this.#starts.slice(0, this.#places)
  }

  /** Number of names. */
  get size(): number {
    return this.#size
  }

  /** Number of places, also those of deleted names. */
  get places(): number {
    return this.#places
  }

  /** Memory that these names take (bytes). */
  get bytes(): number {
    return this.#bytes.capacity + this.#starts.byteLength + this.#index.byteLength + fixedBytes
  }

  /** Sum of the hashes of all names, modulo 2^32: the same in any order. */
  get sum(): number {
    return this.#sum
  }

  has(name: string): boolean {
    return this.#startOf(name) !== undefined
  }

  get(name: string): RemoteEntry | undefined {
    const start = this.#startOf(name)
    return start === undefined ? undefined : this.#records.read(this.#bytes.readAt(start))
  }

  set(name: string, record: RemoteEntry): this {
    const { place, slot, hash } = this.#find(name)
    const start = this.#bytes.length
    this.#records.add(this.#bytes, record)
    if (place !== undefined) {
      if (this.#isDeletedAt(place)) this.#count(hash, 1)
      this.#starts[place] = start
      return this
    }
    if (this.#places === this.#starts.length) this.#starts = larger(this.#starts)
    this.#starts[this.#places++] = start
    this.#index[slot] = this.#places
    this.#count(hash, 1)
    if (this.#places * 3 > this.#index.length * 2) this.#growIndex()
    return this
  }

  delete(name: string): boolean {
    const { place, hash } = this.#find(name)
    if (place === undefined || this.#isDeletedAt(place)) return false
    markDeleted(this.#bytes, this.#starts[place] as number)
    this.#count(hash, -1)
    return true
  }

  /** Returns the name at this place, also a deleted one. */
  nameAt(place: number): string | undefined {
    return place < this.#places ? this.#nameFrom(this.#starts[place] as number) : undefined
  }

  *keys(): Generator<string> {
    for (const start of this.#present()) yield this.#nameFrom(start)
  }

  *values(): Generator<RemoteEntry> {
    for (const start of this.#present()) yield this.#records.read(this.#bytes.readAt(start))
  }

  /** Returns the names of one kind, without making records. */
  *namesOf(kind: RemoteEntry['kind']): Generator<string> {
    for (const start of this.#present())
      if (isFolder(this.#bytes, start) === (kind === 'folder')) yield this.#nameFrom(start)
  }

  *#present(): Generator<number> {
    for (let place = 0; place < this.#places; place++)
      if (!this.#isDeletedAt(place)) yield this.#starts[place] as number
  }

  #isDeletedAt(place: number): boolean {
    return isDeleted(this.#bytes, this.#starts[place] as number)
  }

  #nameFrom(start: number): string {
    return this.#bytes.readAt(start + nameOffset).text()
  }

  #count(hash: number, by: 1 | -1): void {
    this.#size += by
    this.#sum = (this.#sum + by * hash) >>> 0
  }

  #startOf(name: string): number | undefined {
    const { place } = this.#find(name)
    return place === undefined || this.#isDeletedAt(place) ? undefined : this.#starts[place]
  }

  /** Returns the name's place, or else the empty slot of the index for it. */
  #find(name: string): { place: number | undefined; slot: number; hash: number } {
    const length = intoScratch(name)
    const hash = hashOf(scratch, length)
    const mask = this.#index.length - 1
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const noted = this.#index[slot] as number
      if (noted === 0) return { place: undefined, slot, hash }
      const start = this.#starts[noted - 1] as number
      if (this.#bytes.isTextAt(start + nameOffset, scratch, length)) return { place: noted - 1, slot, hash }
    }
  }

  #growIndex(): void {
    const index = new Uint32Array(this.#index.length * 2)
    const mask = index.length - 1
    for (let place = 0; place < this.#places; place++) {
      const text = this.#bytes.textAt((this.#starts[place] as number) + nameOffset)
      let slot = hashOf(text, text.length) & mask
      while (index[slot] !== 0) slot = (slot + 1) & mask
      index[slot] = place + 1
    }
    this.#index = index
  }
}

/** Returns the summand of a name in the digest of a listing. */
export function hashOfName(name: string): number {
  const length = intoScratch(name)
  return hashOf(scratch, length)
}

/** Writes the name into `scratch` as UTF-8. Returns the number of bytes. */
function intoScratch(name: string): number {
  if (name.length * 3 > scratch.length) scratch = Buffer.allocUnsafeSlow(name.length * 3)
  for (let at = 0; at < name.length; at++) {
    const code = name.charCodeAt(at)
    if (code > 0x7f) return scratch.write(name)
    scratch[at] = code
  }
  return name.length
}

/** FNV-1a, 32 bits. */
function hashOf(bytes: Uint8Array, length: number): number {
  let hash = 0x811c9dc5
  // oxlint-disable-next-line typescript/prefer-for-of -- only the first of them
  for (let at = 0; at < length; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193)
  return hash >>> 0
}

/** Returns a power of two of which so many names use at most two thirds. */
function indexSize(names: number): number {
  let size = 8
  while (names * 3 > size * 2) size *= 2
  return size
}

function larger(places: Uint32Array): Uint32Array {
  const more = new Uint32Array(Math.max(8, Math.ceil(places.length * 1.5)))
  more.set(places)
  return more
}
