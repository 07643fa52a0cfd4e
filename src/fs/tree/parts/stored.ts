// The service's version that a node shows: none, one at the node's own path, or one at another path while a rename or a copy is
// pending (`f` → `f~`). Only `Versions` sets the version and its path, since it indexes nodes by path; listings and lookups set
// the times and the size.

import type { RemoteFile } from '../../../api/types.ts'
import { fingerprintOf, type Version } from '../../../content/fingerprint.ts'
import { Undoable } from '../../../content/spool/undo.ts'

interface Stored {
  readonly record: RemoteFile | undefined
  readonly elsewhere: string | undefined
  readonly askedAt: number
  readonly lookedUpAt: number | undefined
  readonly learnedSize: number | undefined
}

const initial: Stored = {
  record: undefined,
  elsewhere: undefined,
  askedAt: 0,
  lookedUpAt: undefined,
  learnedSize: undefined,
}

export class StoredPart extends Undoable<Stored> {
  constructor() {
    super(initial)
  }

  /** The service's record of the version that the node shows, if it shows one. */
  get record(): RemoteFile | undefined {
    return this.now.record
  }

  /** Path at which the service has it, if that is not the node's own. */
  get elsewhere(): string | undefined {
    return this.now.elsewhere
  }

  /** When the service was asked for the record (ms): its URL lives 15 minutes from then. */
  get askedAt(): number {
    return this.now.askedAt
  }

  /** Time of the last lookup of the document alone, for the size that a listing lacks (ms). */
  get lookedUpAt(): number | undefined {
    return this.now.lookedUpAt
  }

  get fingerprint(): string | undefined {
    return this.now.record === undefined ? undefined : fingerprintOf(this.now.record)
  }

  /** Bytes, from the record or learned from the content; undefined while unknown. */
  get size(): number | undefined {
    return this.now.record === undefined ? undefined : (this.now.record.size ?? this.now.learnedSize)
  }

  /** Returns the version; `path` is the node's. */
  versionAt(path: string): Version | undefined {
    const { fingerprint, size } = this
    return fingerprint === undefined ? undefined : { path: this.now.elsewhere ?? path, fingerprint, size }
  }

  /** Sets another version. `elsewhere`: its path, if that is not the node's own. */
  replace(record: RemoteFile, askedAt: number, elsewhere: string | undefined): void {
    this.alter({ record, askedAt, elsewhere, lookedUpAt: undefined, learnedSize: undefined })
  }

  /** Sets a newer record of the same version. */
  renew(record: RemoteFile, askedAt: number): void {
    this.alter({ record, askedAt })
  }

  /** Sets the version's path (undefined: the node's own), after the node or the version was moved. */
  moveTo(elsewhere: string | undefined): void {
    this.alter({ elsewhere: this.now.record === undefined ? undefined : elsewhere })
  }

  /** Called when the node shows no version of the service any more. */
  forget(): void {
    this.alter({ record: undefined, elsewhere: undefined, lookedUpAt: undefined, learnedSize: undefined })
  }

  /** Notes that the document alone was looked up. */
  noteLookup(at: number): void {
    this.alter({ lookedUpAt: at })
  }

  /** Makes the next look at a document whose listing lacks the size look it up alone again. */
  expireLookup(): void {
    if (this.now.lookedUpAt !== undefined) this.alter({ lookedUpAt: -Infinity })
  }

  /** Sets the size that was learned from the content, for a record without one. */
  learn(size: number | undefined): void {
    this.alter({ learnedSize: size })
  }
}
