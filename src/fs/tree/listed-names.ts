// The names of a folder with their records: unpacked while the listing is among the newest, packed when others need the memory.
// While the code is not compiled yet, packing and unpacking records costs more than a cold listing itself.

import type { RemoteFile, RemoteFolder } from '../../api/types.ts'
import { hashOfName, PackedNames } from './packed-names.ts'

type RemoteEntry = RemoteFile | RemoteFolder

/** Memory (bytes) of a record with its strings and its map entry: measured. */
const recordBytes = 800
const fixedBytes = 600

export class ListedNames {
  #names: Map<string, RemoteEntry> | PackedNames

  constructor(records: Iterable<RemoteEntry> = []) {
    this.#names = new Map()
    for (const record of records) this.#names.set(record.name, record)
  }

  /** Packs the names, which then take little memory. */
  pack(): void {
    if (!(this.#names instanceof PackedNames))
      this.#names = new PackedNames(this.#names.values(), this.#names.size)
  }

  /** Number of names. */
  get size(): number {
    return this.#names.size
  }

  /** Memory that these names take (bytes); an estimate until they are packed. */
  get bytes(): number {
    return this.#names instanceof PackedNames
      ? this.#names.bytes
      : this.#names.size * recordBytes + fixedBytes
  }

  /** Returns a digest of the names without the `hidden` ones: another listing with the same digest shows the same names. */
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

  get(name: string): RemoteEntry | undefined {
    return this.#names.get(name)
  }

  keys(): Iterable<string> {
    return this.#names.keys()
  }

  values(): Iterable<RemoteEntry> {
    return this.#names.values()
  }

  /** Returns the names of one kind. */
  *namesOf(kind: RemoteEntry['kind']): Generator<string> {
    if (this.#names instanceof PackedNames) yield* this.#names.namesOf(kind)
    else for (const record of this.#names.values()) if (record.kind === kind) yield record.name
  }
}
