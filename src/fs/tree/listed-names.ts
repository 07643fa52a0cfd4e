// The names of a folder with their records: as they came while they are among the newest, packed when others need the room.
// Packing and making records anew costs more than a cold listing itself, while the code is not compiled yet.

import type { RemoteFile, RemoteFolder } from '../../api/types.ts'
import { hashOfName, PackedNames } from './packed-names.ts'

type Told = RemoteFile | RemoteFolder

/** A record with its strings, and its place in the map: measured. */
const recordBytes = 800
const fixedBytes = 600

export class ListedNames {
  #names: Map<string, Told> | PackedNames

  constructor(records: Iterable<Told> = []) {
    this.#names = new Map()
    for (const record of records) this.#names.set(record.name, record)
  }

  /** From now on they take little room. */
  pack(): void {
    if (!(this.#names instanceof PackedNames))
      this.#names = new PackedNames(this.#names.values(), this.#names.size)
  }

  /** How many names there are. */
  get size(): number {
    return this.#names.size
  }

  /** Memory that these names take; an estimate until they are packed. */
  get bytes(): number {
    return this.#names instanceof PackedNames
      ? this.#names.bytes
      : this.#names.size * recordBytes + fixedBytes
  }

  /** The same for the same names, in whatever order and with whatever records, `hidden` ones left out. */
  digestWithout(hidden: Iterable<string>): string {
    let { size } = this
    let sum = this.#names instanceof PackedNames ? this.#names.sum : 0
    if (!(this.#names instanceof PackedNames)) for (const name of this.#names.keys()) sum += hashOfName(name)
    for (const name of hidden) {
      if (!this.has(name)) continue
      size--
      sum -= hashOfName(name)
    }
    return `${size}:${sum >>> 0}`
  }

  has(name: string): boolean {
    return this.#names.has(name)
  }

  get(name: string): Told | undefined {
    return this.#names.get(name)
  }

  keys(): Iterable<string> {
    return this.#names.keys()
  }

  values(): Iterable<Told> {
    return this.#names.values()
  }

  /** The names of one kind. */
  *namesOf(kind: Told['kind']): Generator<string> {
    if (this.#names instanceof PackedNames) yield* this.#names.namesOf(kind)
    else for (const record of this.#names.values()) if (record.kind === kind) yield record.name
  }
}
