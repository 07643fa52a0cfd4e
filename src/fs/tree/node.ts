// One file or folder we know of: its place, what the service last said of it, and what is true only here. Identity for
// the kernel (`ino`); the path is derived, never stored in descendants.

import type { RemoteFile } from '../../api/types.ts'
import type { Version } from '../../content/fingerprint.ts'
import type { Job } from '../../content/commit/job.ts'
import type { SpoolFile } from '../../content/spool/spool-file.ts'
import type { NodeKind } from '../operations.ts'
import type { FolderOrder } from './folder-order.ts'
import { DoorPart } from './parts/door.ts'
import { LocalPart } from './parts/local.ts'
import { StoredPart } from './parts/stored.ts'
import { TimesPart } from './parts/times.ts'
import { UnsentPart } from './parts/unsent.ts'

/** A name that is hidden although a listing may still show it: it was deleted or moved away here. */
export interface Tombstone {
  /** The version that was deleted; another fingerprint under this name is somebody's new document. Undefined for a folder. */
  fingerprint: string | undefined
  /** When the service agreed (ms); listings asked for one cache lifetime later decide. Undefined while the delete is pending. */
  settledAt: number | undefined
}

/** What only a folder has. */
export class FolderState {
  /** Live nodes by name. */
  readonly children: Map<string, Node> = new Map()
  /** Names of children that exist whatever a listing says: unsent, local-only, made here, or just sent. */
  readonly kept: Set<string> = new Set()
  readonly tombstones: Map<string, Tombstone> = new Map()
  /** mkdir made it here; the service learns of it when a file lands in it. */
  isMadeHere = false
  /** Made here by this run, and nothing in it was ever handed in to be sent: the service knows nothing of it. */
  isOnlyHere = false
  /** Undefined while nobody has listed it. */
  order: FolderOrder | undefined
  /** What the listing that was dropped last said, as its digest. */
  droppedNames: string | undefined
  /** When what is known of it came (ms), be it known no longer: an answer to an earlier question may be older than that. */
  knownFrom = 0
  /** Grows with every change of the visible names. */
  generation = 0
  /** The generation the door was last given a listing of. */
  listedGeneration = -1

  /** All of it as it is now, to be put back. */
  remembered(): () => void {
    const [children, kept, tombstones] = [[...this.children], [...this.kept], [...this.tombstones]]
    const { isMadeHere, isOnlyHere } = this
    return () => {
      for (const names of [this.children, this.kept, this.tombstones]) names.clear()
      for (const [name, node] of children) this.children.set(name, node)
      for (const name of kept) this.kept.add(name)
      for (const [name, tombstone] of tombstones) this.tombstones.set(name, tombstone)
      Object.assign(this, { isMadeHere, isOnlyHere })
    }
  }
}

export class Node {
  readonly ino: number
  readonly kind: NodeKind
  /** Undefined for the root, and for a node that lost its name. */
  parent: Node | undefined
  name: string
  readonly folder: FolderState | undefined

  readonly stored: StoredPart = new StoredPart()
  readonly local: LocalPart = new LocalPart()
  readonly unsent: UnsentPart = new UnsentPart()
  /** The service agreed at this time (ms); listings asked for one cache lifetime later decide again. */
  settledAt: number | undefined

  readonly times: TimesPart = new TimesPart()
  readonly door: DoorPart = new DoorPart()
  /** No name leads here any more; open handles still do. */
  isUnlinked = false

  constructor(ino: number, kind: NodeKind, parent: Node | undefined, name: string) {
    this.ino = ino
    this.kind = kind
    this.parent = parent
    this.name = name
    this.folder = kind === 'folder' ? new FolderState() : undefined
  }

  /** Its place and its parts as they are now, to be put back; what the door holds stays what it is. */
  remembered(): () => void {
    const { parent, name, isUnlinked, settledAt } = this
    const parts = [this.stored, this.local, this.unsent, this.times].map((part) => part.remembered())
    return () => {
      Object.assign(this, { parent, name, isUnlinked, settledAt })
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
  get isScratch(): boolean {
    return this.local.isScratch
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
  const above = folder.path
  return above === '/' ? `/${name}` : `${above}/${name}`
}
