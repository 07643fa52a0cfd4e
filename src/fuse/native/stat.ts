// Attributes and statistics as the binding takes them: unsigned 32-bit numbers, and times in milliseconds.

import type { Attributes, FilesystemStatistics, NodeKind, Time } from '../../fs/operations.ts'

/** Fields that the binding reads from a stat object; times are milliseconds. */
export interface NativeStat {
  readonly mode: number
  readonly size: number
  readonly nlink: number
  readonly uid: number
  readonly gid: number
  readonly ino: number
  readonly blksize: number
  readonly blocks: number
  readonly atime: number
  readonly mtime: number
  readonly ctime: number
}

export interface NativeStatfs {
  readonly bsize: number
  readonly frsize: number
  readonly blocks: number
  readonly bfree: number
  readonly bavail: number
  readonly files: number
  readonly ffree: number
  readonly favail: number
  readonly namemax: number
}

const typeBits: Readonly<Record<NodeKind, number>> = { file: 0o100000, folder: 0o040000 }
const largestWord = 2 ** 32 - 1

export function nativeStat(attributes: Attributes): NativeStat {
  const { ino, kind, size, mode, nlink, uid, gid, atime, mtime, ctime } = attributes
  return {
    mode: typeBits[kind] | (mode & 0o7777),
    size,
    nlink,
    uid,
    gid,
    ino: inoWord(ino),
    blksize: 131_072,
    blocks: Math.ceil(size / 512),
    atime: milliseconds(atime),
    mtime: milliseconds(mtime),
    ctime: milliseconds(ctime),
  }
}

/** Returns the stat of a listed name: libfuse uses the inode number and the kind alone. */
export function listingStat(ino: number, kind: NodeKind): NativeStat {
  const none = { size: 0, nlink: 1, uid: 0, gid: 0, blksize: 0, blocks: 0, atime: 0, mtime: 0, ctime: 0 }
  return { mode: typeBits[kind], ino: inoWord(ino), ...none }
}

/** Returns the inode number reduced to 32 bits, as the binding takes it; never 0. */
function inoWord(ino: number): number {
  return ino % 2 ** 32 || largestWord
}

/** Times before 1970 become 0: the binding would pass them on as the far future. */
function milliseconds({ sec, nsec }: Time): number {
  return Math.max(0, sec * 1000 + Math.floor(nsec / 1e6))
}

/** Decodes a time of the binding, unsigned 64-bit milliseconds; one before 1970 is exact to 2 s. */
export function timeOf(ms: number): Time {
  const signed = ms >= 2 ** 63 ? ms - 2 ** 64 : ms
  const sec = Math.floor(signed / 1000)
  return { sec, nsec: Math.round((signed - sec * 1000) * 1e6) }
}

/** Returns statistics with the block size doubled until the number of blocks fits into 32 bits. */
export function nativeStatfs(statistics: FilesystemStatistics): NativeStatfs {
  let scale = 1
  while (statistics.blocks / scale > largestWord) scale *= 2
  const bsize = statistics.blockSizeBytes * scale
  const free = Math.floor(statistics.blocksFree / scale)
  const filesFree = Math.min(statistics.filesFree, largestWord)
  return {
    bsize,
    frsize: bsize,
    blocks: Math.floor(statistics.blocks / scale),
    bfree: free,
    bavail: free,
    files: Math.min(statistics.files, largestWord),
    ffree: filesFree,
    favail: filesFree,
    namemax: statistics.nameMax,
  }
}
