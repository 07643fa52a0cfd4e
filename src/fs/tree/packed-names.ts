// The names of a folder with their records, packed: a million of them are a few buffers, not millions of objects. In the
// order they came; a name that goes and comes back has its old place. A record is made anew each time it is asked for.

import type { RemoteFile, RemoteFolder } from '../../api/types.ts'
import { GrowingBytes } from './growing-bytes.ts'
import { isAway, isFolder, markAway, nameOffset, PackedRecords } from './packed-records.ts'

type Told = RemoteFile | RemoteFolder

/** Objects around the buffers. */
const fixedBytes = 600
/** Names are at most 255 bytes long here; longer ones are looked for all the same. */
let scratch = Buffer.allocUnsafeSlow(1024)

export class PackedNames {
  readonly #bytes: GrowingBytes
  readonly #records = new PackedRecords()
  /** Where each place's record begins. */
  #starts: Uint32Array
  #places = 0
  #size = 0
  /** Places by the hash of their names, the first being 1; 0 where none is. At most two thirds are taken. */
  #index: Uint32Array
  /** The sum of the hashes of all names. */
  #sum = 0

  constructor(records: Iterable<Told> = [], expected = 0) {
    this.#bytes = new GrowingBytes(64 + expected * 112)
    this.#starts = new Uint32Array(expected)
    this.#index = new Uint32Array(indexRoom(expected))
    for (const record of records) this.set(record.name, record)
    this.trim()
  }

  /** Gives back what is held for more names. */
  trim(): void {
    this.#bytes.trim()
    if (this.#starts.length > this.#places) this.#starts = this.#starts.slice(0, this.#places)
  }

  /** How many names there are. */
  get size(): number {
    return this.#size
  }

  /** Places so far, those of names that are away among them. */
  get places(): number {
    return this.#places
  }

  /** Memory that these names take. */
  get bytes(): number {
    return this.#bytes.room + this.#starts.byteLength + this.#index.byteLength + fixedBytes
  }

  /** The hashes of all names together, 32 bits of it: the same in whatever order. */
  get sum(): number {
    return this.#sum
  }

  has(name: string): boolean {
    return this.#startOf(name) !== undefined
  }

  get(name: string): Told | undefined {
    const start = this.#startOf(name)
    return start === undefined ? undefined : this.#records.read(this.#bytes.readAt(start))
  }

  set(name: string, record: Told): this {
    const { place, slot, hash } = this.#find(name)
    const start = this.#bytes.length
    this.#records.add(this.#bytes, record)
    if (place !== undefined) {
      if (this.#isAwayAt(place)) this.#count(hash, 1)
      this.#starts[place] = start
      return this
    }
    if (this.#places === this.#starts.length) this.#starts = larger(this.#starts)
    this.#starts[this.#places++] = start
    this.#index[slot] = this.#places
    this.#count(hash, 1)
    if (this.#places * 3 > this.#index.length * 2) this.#indexAnew()
    return this
  }

  delete(name: string): boolean {
    const { place, hash } = this.#find(name)
    if (place === undefined || this.#isAwayAt(place)) return false
    markAway(this.#bytes, this.#starts[place] as number)
    this.#count(hash, -1)
    return true
  }

  /** The name that has, or had, this place. */
  nameAt(place: number): string | undefined {
    return place < this.#places ? this.#nameFrom(this.#starts[place] as number) : undefined
  }

  *keys(): Generator<string> {
    for (const start of this.#present()) yield this.#nameFrom(start)
  }

  *values(): Generator<Told> {
    for (const start of this.#present()) yield this.#records.read(this.#bytes.readAt(start))
  }

  /** The names of one kind; no record is made. */
  *namesOf(kind: Told['kind']): Generator<string> {
    for (const start of this.#present())
      if (isFolder(this.#bytes, start) === (kind === 'folder')) yield this.#nameFrom(start)
  }

  *#present(): Generator<number> {
    for (let place = 0; place < this.#places; place++)
      if (!this.#isAwayAt(place)) yield this.#starts[place] as number
  }

  #isAwayAt(place: number): boolean {
    return isAway(this.#bytes, this.#starts[place] as number)
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
    return place === undefined || this.#isAwayAt(place) ? undefined : this.#starts[place]
  }

  /** The name's place, or the slot of the index where it would be noted. */
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

  #indexAnew(): void {
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

/** The share of each name in the digest. */
export function hashOfName(name: string): number {
  const length = intoScratch(name)
  return hashOf(scratch, length)
}

/** As UTF-8; answers how many bytes. */
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

/** A power of two that so many names leave a third of. */
function indexRoom(names: number): number {
  let room = 8
  while (names * 3 > room * 2) room *= 2
  return room
}

function larger(places: Uint32Array): Uint32Array {
  const more = new Uint32Array(Math.max(8, Math.ceil(places.length * 1.5)))
  more.set(places)
  return more
}
