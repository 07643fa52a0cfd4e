// The service's version that a node shows: none, one at the node's own path, or one at another path while a rename or a copy is
// pending (`f` → `f~`). Only `Versions` sets the version and its path, since it indexes nodes by path; listings and lookups set
// the times and the size.

import type { RemoteFile } from '../../../api/types.ts'
import { fingerprintOf, type Version } from '../../../content/fingerprint.ts'

export class StoredPart {
  #record: RemoteFile | undefined
  #elsewhere: string | undefined
  #askedAt = 0
  #lookedUpAt: number | undefined
  #learnedSize: number | undefined

  /** The service's record of the version that the node shows, if it shows one. */
  get record(): RemoteFile | undefined {
    return this.#record
  }

  /** Path at which the service has it, if that is not the node's own. */
  get elsewhere(): string | undefined {
    return this.#elsewhere
  }

  /** When the service was asked for the record (ms): its URL lives 15 minutes from then. */
  get askedAt(): number {
    return this.#askedAt
  }

  /** Time of the last lookup of the document alone, for the size that a listing lacks (ms). */
  get lookedUpAt(): number | undefined {
    return this.#lookedUpAt
  }

  get fingerprint(): string | undefined {
    return this.#record === undefined ? undefined : fingerprintOf(this.#record)
  }

  /** Bytes, from the record or learned from the content; undefined while unknown. */
  get size(): number | undefined {
    return this.#record === undefined ? undefined : (this.#record.size ?? this.#learnedSize)
  }

  /** Returns the version; `path` is the node's. */
  versionAt(path: string): Version | undefined {
    const { fingerprint, size } = this
    return fingerprint === undefined ? undefined : { path: this.#elsewhere ?? path, fingerprint, size }
  }

  /** Sets another version. `elsewhere`: its path, if that is not the node's own. */
  replace(record: RemoteFile, askedAt: number, elsewhere: string | undefined): void {
    this.#record = record
    this.#askedAt = askedAt
    this.#elsewhere = elsewhere
    this.#lookedUpAt = undefined
    this.#learnedSize = undefined
  }

  /** Sets a newer record of the same version. */
  renew(record: RemoteFile, askedAt: number): void {
    this.#record = record
    this.#askedAt = askedAt
  }

  /** Sets the version's path (undefined: the node's own), after the node or the version was moved. */
  moveTo(elsewhere: string | undefined): void {
    this.#elsewhere = this.#record === undefined ? undefined : elsewhere
  }

  /** Called when the node shows no version of the service any more. */
  forget(): void {
    this.#record = undefined
    this.#elsewhere = undefined
    this.#lookedUpAt = undefined
    this.#learnedSize = undefined
  }

  /** Notes that the document alone was looked up. */
  noteLookup(at: number): void {
    this.#lookedUpAt = at
  }

  /** Makes the next look at a document whose listing lacks the size look it up alone again. */
  expireLookup(): void {
    if (this.#lookedUpAt !== undefined) this.#lookedUpAt = -Infinity
  }

  /** Sets the size that was learned from the content, for a record without one. */
  learn(size: number | undefined): void {
    this.#learnedSize = size
  }

  /** Returns a function that undoes later changes, for a transaction of the journal that fails. */
  snapshot(): () => void {
    const [record, elsewhere] = [this.#record, this.#elsewhere]
    const [askedAt, lookedUpAt, learnedSize] = [this.#askedAt, this.#lookedUpAt, this.#learnedSize]
    return () => {
      this.#record = record
      this.#elsewhere = elsewhere
      this.#askedAt = askedAt
      this.#lookedUpAt = lookedUpAt
      this.#learnedSize = learnedSize
    }
  }
}
