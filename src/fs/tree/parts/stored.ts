// The service's version of a document, as far as its node shows it: none, one at the node's own path, or one elsewhere (a
// rename or copy under way, `f` → `f~`). Which version it is, and where, is written by `Versions` alone, which knows who
// shows what from where. When the service was asked for it, and what it told beside, whoever asked says.

import type { RemoteFile } from '../../../api/types.ts'
import { fingerprintOf, type Version } from '../../../content/fingerprint.ts'

export class StoredPart {
  #record: RemoteFile | undefined
  #elsewhere: string | undefined
  #askedAt = 0
  #askedWholeAt: number | undefined
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

  /** When the document itself was asked for what its listing does not tell (ms). */
  get askedWholeAt(): number | undefined {
    return this.#askedWholeAt
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
  become(record: RemoteFile, askedAt: number, elsewhere: string | undefined): void {
    this.#record = record
    this.#askedAt = askedAt
    this.#elsewhere = elsewhere
    this.#askedWholeAt = undefined
    this.#learnedSize = undefined
  }

  /** The same version, asked for again. */
  renew(record: RemoteFile, askedAt: number): void {
    this.#record = record
    this.#askedAt = askedAt
  }

  /** The same version; the node's path, or the version, is another one. */
  isAt(elsewhere: string | undefined): void {
    this.#elsewhere = this.#record === undefined ? undefined : elsewhere
  }

  /** The node shows no version of the service. */
  forget(): void {
    this.#record = undefined
    this.#elsewhere = undefined
    this.#askedWholeAt = undefined
    this.#learnedSize = undefined
  }

  /** The document itself was asked. */
  askedWhole(at: number): void {
    this.#askedWholeAt = at
  }

  /** The next look at the document asks for the document itself, where its listing did not tell all before. */
  askWholeAgain(): void {
    if (this.#askedWholeAt !== undefined) this.#askedWholeAt = -Infinity
  }

  /** Where the record has no size. */
  learn(size: number | undefined): void {
    this.#learnedSize = size
  }

  /** As it is now, to be put back. */
  remembered(): () => void {
    const [record, elsewhere] = [this.#record, this.#elsewhere]
    const [askedAt, askedWholeAt, learnedSize] = [this.#askedAt, this.#askedWholeAt, this.#learnedSize]
    return () => {
      this.#record = record
      this.#elsewhere = elsewhere
      this.#askedAt = askedAt
      this.#askedWholeAt = askedWholeAt
      this.#learnedSize = learnedSize
    }
  }
}
