// A node: a file or folder that the drive knows, with its place in the tree, and one part each for the service's version, the local
// content, unsent changes, times and the door. `ino` identifies it for the kernel. Its path is derived from its parents, so a rename of
// a folder changes no node in it.

import type { RemoteFile } from '../../api/types.ts'
import type { Version } from '../../content/fingerprint.ts'
import type { Job } from '../../content/commit/job.ts'
import type { SpoolFile } from '../../content/spool/spool-file.ts'
import { Undoable } from '../../content/spool/undo.ts'
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

interface Place {
  readonly parent: Node | undefined
  readonly name: string
  readonly isUnlinked: boolean
}

/** All but what the door holds is put back when a transaction of the journal fails. */
export class Node extends Undoable<Place> {
  readonly ino: number
  readonly kind: NodeKind
  readonly folder: FolderState | undefined

  readonly stored: StoredPart = new StoredPart()
  readonly local: LocalPart = new LocalPart()
  readonly unsent: UnsentPart = new UnsentPart()
  readonly times: TimesPart = new TimesPart()
  readonly door: DoorPart = new DoorPart()

  constructor(ino: number, kind: NodeKind, parent: Node | undefined, name: string) {
    super({ parent, name, isUnlinked: false })
    this.ino = ino
    this.kind = kind
    this.folder = kind === 'folder' ? new FolderPart() : undefined
  }

  /** Undefined for the root, and for a node that never had a place. */
  get parent(): Node | undefined {
    return this.now.parent
  }

  get name(): string {
    return this.now.name
  }

  /** True if it lost its name, or a folder above it did; open handles still lead here. */
  get isUnlinked(): boolean {
    return this.now.isUnlinked || this.now.parent?.isUnlinked === true
  }

  /** True for what the service has not got as it is: unsent, being written, on this machine only, a copy to be made, or made here. */
  get isAhead(): boolean {
    const { local, unsent, folder } = this
    if (unsent.job !== undefined || unsent.isCopy || folder?.isMadeHere === true) return true
    return local.isDirty || local.isLocalOnly
  }

  /** Gives it another place. Called by `Places` alone. */
  moveTo(parent: Node, name: string): void {
    this.alter({ parent, name })
  }

  /** Takes its name away. Called by `Places` alone. */
  unlink(): void {
    this.alter({ isUnlinked: true })
  }

  /** Absolute path in the project. */
  get path(): string {
    return this.parent === undefined ? '/' : pathIn(this.parent, this.name)
  }

  /** Its content on this machine, if it has any. */
  get content(): SpoolFile | undefined {
    return this.local.content
  }

  get isDirty(): boolean {
    return this.local.isDirty
  }

  /** True if it is on this machine only. */
  get isLocalOnly(): boolean {
    return this.local.isLocalOnly
  }

  /** Its newest change that the service does not have yet. */
  get job(): Job | undefined {
    return this.unsent.job
  }

  /** The service's record of the version that it shows, if the service has that. */
  get remote(): RemoteFile | undefined {
    return this.stored.record
  }

  /** Path at which the service has that version. */
  get storedPath(): string | undefined {
    return this.remote === undefined ? undefined : (this.stored.elsewhere ?? this.path)
  }

  /** Fingerprint of the version that the service has at the node's own path, if the node shows that. */
  get shown(): string | undefined {
    const { stored, local, unsent } = this
    if (stored.elsewhere !== undefined || local.isDirty || local.isLocalOnly) return undefined
    return unsent.job === undefined && !this.isUnlinked ? stored.fingerprint : undefined
  }

  /** The service's version that it shows. */
  get version(): Version | undefined {
    return this.remote === undefined ? undefined : this.stored.versionAt(this.path)
  }

  /** Bytes; undefined while unknown. */
  get size(): number | undefined {
    if (this.content !== undefined) return this.content.size
    return this.remote === undefined ? 0 : this.stored.size
  }
}

/** Returns the path of a name in a folder. */
export function pathIn(folder: Node, name: string): string {
  return pathBelow(folder.path, name)
}
