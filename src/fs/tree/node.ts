// One file or folder we know of: its place, what the service last said of it, and what is true only here. Identity for
// the kernel (`ino`); the path is derived, never stored in descendants.

import type { RemoteFile } from '../../api/types.ts'
import type { Version } from '../../content/fingerprint.ts'
import type { Job } from '../../content/commit/job.ts'
import type { SpoolFile } from '../../content/spool/spool-file.ts'
import type { NodeKind } from '../operations.ts'
import { DoorPart } from './parts/door.ts'
import { FolderPart } from './parts/folder.ts'
import { LocalPart } from './parts/local.ts'
import { StoredPart } from './parts/stored.ts'
import { TimesPart } from './parts/times.ts'
import { UnsentPart } from './parts/unsent.ts'
import { pathBelow } from '../../path.ts'

/** The part that only a folder has. */
export type FolderState = FolderPart<Node>

export class Node {
  readonly ino: number
  readonly kind: NodeKind
  #parent: Node | undefined
  #name: string
  #isUnlinked = false
  #settledAt: number | undefined
  #settledUntil = 0
  readonly folder: FolderState | undefined

  readonly stored: StoredPart = new StoredPart()
  readonly local: LocalPart = new LocalPart()
  readonly unsent: UnsentPart = new UnsentPart()
  readonly times: TimesPart = new TimesPart()
  readonly door: DoorPart = new DoorPart()

  constructor(ino: number, kind: NodeKind, parent: Node | undefined, name: string) {
    this.ino = ino
    this.kind = kind
    this.#parent = parent
    this.#name = name
    this.folder = kind === 'folder' ? new FolderPart() : undefined
  }

  /** Undefined for the root, and for a node that never had a place. */
  get parent(): Node | undefined {
    return this.#parent
  }

  get name(): string {
    return this.#name
  }

  /** No name leads here any more, its own or that of a folder above it; open handles still do. */
  get isUnlinked(): boolean {
    return this.#isUnlinked || this.#parent?.isUnlinked === true
  }

  /** The service agreed at this time (ms). Undefined: it did not yet. */
  get settledAt(): number | undefined {
    return this.#settledAt
  }

  /** Listings asked for from then on (ms) decide again. */
  get settledUntil(): number {
    return this.#settledUntil
  }

  /** It has another place, of which the service has heard nothing. Called by `Places` alone. */
  moveTo(parent: Node, name: string): void {
    this.#parent = parent
    this.#name = name
    this.#settledAt = undefined
    this.#settledUntil = 0
  }

  /** It lost its name. Called by `Places` alone. */
  unlink(): void {
    this.#isUnlinked = true
  }

  /** The service agreed at this time (ms) to what it shows; listings may lag behind that for so long (ms). */
  settle(at: number, lagMs: number): void {
    this.#settledAt = at
    this.#settledUntil = at + lagMs
  }

  /** It shows another state than the service agreed to last, or a listing has caught up with it. */
  unsettle(): void {
    this.#settledAt = undefined
    this.#settledUntil = 0
  }

  /** Its place and its parts as they are now, to be put back; what the door holds stays what it is. */
  snapshot(): () => void {
    const [parent, name] = [this.#parent, this.#name]
    const [isUnlinked, settledAt, settledUntil] = [this.#isUnlinked, this.#settledAt, this.#settledUntil]
    const parts = [this.stored, this.local, this.unsent, this.times].map((part) => part.snapshot())
    return () => {
      this.#parent = parent
      this.#name = name
      this.#isUnlinked = isUnlinked
      this.#settledAt = settledAt
      this.#settledUntil = settledUntil
      for (const putBack of parts) putBack()
    }
  }

  /** Absolute path in the project. */
  get path(): string {
    return this.parent === undefined ? '/' : pathIn(this.parent, this.name)
  }

  /** Its content here, where it has some. */
  get content(): SpoolFile | undefined {
    return this.local.content
  }

  get isDirty(): boolean {
    return this.local.isDirty
  }

  /** It is on this machine only. */
  get isLocalOnly(): boolean {
    return this.local.isLocalOnly
  }

  /** Its newest change that the service has not got yet. */
  get job(): Job | undefined {
    return this.unsent.job
  }

  /** The service's record of the content this node shows, where it has one. */
  get remote(): RemoteFile | undefined {
    return this.stored.record
  }

  /** Where the service has this node's content, if it has. */
  get storedPath(): string | undefined {
    return this.remote === undefined ? undefined : (this.stored.elsewhere ?? this.path)
  }

  /** The fingerprint at its own path, where what it shows is what the service has there. */
  get shown(): string | undefined {
    const { stored, local, unsent } = this
    if (stored.elsewhere !== undefined || local.isDirty || local.isLocalOnly) return undefined
    return unsent.job === undefined && !this.isUnlinked ? stored.fingerprint : undefined
  }

  /** The remote version this node shows. */
  get version(): Version | undefined {
    return this.remote === undefined ? undefined : this.stored.versionAt(this.path)
  }

  /** Bytes; undefined while nobody told. */
  get size(): number | undefined {
    if (this.content !== undefined) return this.content.size
    return this.remote === undefined ? 0 : this.stored.size
  }
}

/** The path of a name in a folder. */
export function pathIn(folder: Node, name: string): string {
  return pathBelow(folder.path, name)
}
