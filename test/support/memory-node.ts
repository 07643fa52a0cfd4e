// One file or folder of the memory filesystem.

import type { Attributes, NodeKind, Time } from '../../src/fs/operations.ts'
import { SparseBytes } from './sparse-bytes.ts'

export class MemoryNode {
  readonly ino: number
  readonly kind: NodeKind
  mode: number
  uid: number
  gid: number
  nlink = 0
  atime: Time = now()
  mtime: Time = this.atime
  ctime: Time = this.atime
  /** Lookup references that the kernel holds. */
  lookups = 0
  /** Open handles on this node. */
  handles = 0
  /** True once the folder was listed. */
  isListed = false
  readonly children = new Map<string, MemoryNode>()
  readonly bytes = new SparseBytes()

  constructor(ino: number, kind: NodeKind, mode: number, uid: number, gid: number) {
    this.ino = ino
    this.kind = kind
    this.mode = mode & 0o7777
    this.uid = uid
    this.gid = gid
  }

  attributes(): Attributes {
    const { ino, kind, mode, nlink, uid, gid, atime, mtime, ctime } = this
    return { ino, kind, size: this.bytes.size, mode, nlink, uid, gid, atime, mtime, ctime }
  }
}

export function now(): Time {
  const ms = performance.timeOrigin + performance.now()
  const sec = Math.floor(ms / 1000)
  return { sec, nsec: Math.floor((ms - sec * 1000) * 1e6) }
}
