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

  /** The service's record of the content the node shows, where it has one. */
  get record(): RemoteFile | undefined {
    return this.#record
  }

  /** Where the service has it, when that is not the node's own path. */
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

  /** Bytes, as the record tells or as they were learned by asking; undefined while nobody told. */
  get size(): number | undefined {
    return this.#record === undefined ? undefined : (this.#record.size ?? this.#learnedSize)
  }

  /** Of a node at this path. */
  versionAt(path: string): Version | undefined {
    const { fingerprint, size } = this
    return fingerprint === undefined ? undefined : { path: this.#elsewhere ?? path, fingerprint, size }
  }

  /** Another version, at the node's own path or elsewhere. */
  replace(record: RemoteFile, askedAt: number, elsewhere: string | undefined): void {
    this.#record = record
    this.#askedAt = askedAt
    this.#elsewhere = elsewhere
    this.#lookedUpAt = undefined
    this.#learnedSize = undefined
  }

  /** The same version, asked for again. */
  renew(record: RemoteFile, askedAt: number): void {
    this.#record = record
    this.#askedAt = askedAt
  }

  /** The same version; the node's path, or the version, is another one. */
  moveTo(elsewhere: string | undefined): void {
    this.#elsewhere = this.#record === undefined ? undefined : elsewhere
  }

  /** The node shows no version of the service. */
  forget(): void {
    this.#record = undefined
    this.#elsewhere = undefined
    this.#lookedUpAt = undefined
    this.#learnedSize = undefined
  }

  /** The document alone was looked up. */
  noteLookup(at: number): void {
    this.#lookedUpAt = at
  }

  /** The next look at the document asks for the document itself, where its listing did not tell all before. */
  expireLookup(): void {
    if (this.#lookedUpAt !== undefined) this.#lookedUpAt = -Infinity
  }

  /** Where the record has no size. */
  learn(size: number | undefined): void {
    this.#learnedSize = size
  }

  /** Undo of later changes, where a transaction of the journal fails. */
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
