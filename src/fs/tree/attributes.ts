// A node's attributes as programs see them. mtime is modified_at, never "now": thumbnails and rsync key on it.

import type { Node } from './node.ts'
import type { Attributes, Time } from '../operations.ts'

/** Bytes reported for a folder. */
const folderSizeBytes = 4096

export interface Owner {
  readonly uid: number
  readonly gid: number
  /** Time shown for a file or folder that has none in the service. */
  readonly mountedAt: Time
}

export function attributesOf(node: Node, owner: Owner): Attributes {
  const mtime = node.times.mtime ?? timeOf(node.remote?.modifiedAt) ?? owner.mountedAt
  const isFolder = node.kind === 'folder'
  return {
    ino: node.ino,
    kind: node.kind,
    size: isFolder ? folderSizeBytes : (node.size ?? 0),
    mode: node.times.mode ?? (isFolder ? 0o755 : 0o644),
    nlink: node.isUnlinked ? 0 : 1,
    uid: owner.uid,
    gid: owner.gid,
    atime: node.times.atime ?? mtime,
    mtime,
    ctime: node.times.ctime ?? mtime,
  }
}

/** Parses a date-time of the service; undefined if it is not one. */
function timeOf(text: string | undefined): Time | undefined {
  if (text === undefined) return undefined
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? undefined : timeOfMs(ms)
}

export function timeOfMs(ms: number): Time {
  const sec = Math.floor(ms / 1000)
  return { sec, nsec: Math.round((ms - sec * 1000) * 1e6) }
}
