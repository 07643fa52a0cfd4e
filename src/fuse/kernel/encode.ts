// Our answers as the kernel's structures. Each `write…` function fills one of them in `view`, from byte `at` on.

import type { Attributes, Entry, FilesystemStatistics, Opened } from '../../fs/operations.ts'
import { set64, setU32 } from './fields.ts'
import { fileType, openFlag } from './protocol-flags.ts'
import { attr, attrOut, entryOut, kstatfs, openOut } from './protocol-structs.ts'

/** st_blksize, which programs take as their buffer size: one READ or WRITE of this size is one round trip. */
const preferredBlockBytes = 128 * 1024

/** Unit of st_blocks, whatever st_blksize is. */
const statBlockBytes = 512

/** Longer than any uptime, and no overflow of the kernel's jiffies. */
const longestTtlMs = 365 * 24 * 3_600_000

/** Returns the file type bits of `attr.mode`. */
export function typeBits(kind: Attributes['kind']): number {
  return kind === 'file' ? fileType.regular : fileType.folder
}

function writeAttributes(view: DataView, at: number, attributes: Attributes): void {
  set64(view, at + attr.ino, attributes.ino)
  set64(view, at + attr.size, attributes.size)
  set64(view, at + attr.blocks, Math.ceil(attributes.size / statBlockBytes))
  set64(view, at + attr.atime, attributes.atime.sec)
  set64(view, at + attr.mtime, attributes.mtime.sec)
  set64(view, at + attr.ctime, attributes.ctime.sec)
  setU32(view, at + attr.atimensec, attributes.atime.nsec)
  setU32(view, at + attr.mtimensec, attributes.mtime.nsec)
  setU32(view, at + attr.ctimensec, attributes.ctime.nsec)
  setU32(view, at + attr.mode, typeBits(attributes.kind) | attributes.mode)
  setU32(view, at + attr.nlink, attributes.nlink)
  setU32(view, at + attr.uid, attributes.uid)
  setU32(view, at + attr.gid, attributes.gid)
  setU32(view, at + attr.rdev, 0)
  setU32(view, at + attr.blksize, preferredBlockBytes)
  setU32(view, at + attr.flags, 0)
}

function writeTtl(view: DataView, secondsAt: number, nanosecondsAt: number, ttlMs: number): void {
  const ms = Math.min(longestTtlMs, Math.max(0, ttlMs))
  const seconds = Math.floor(ms / 1000)
  set64(view, secondsAt, seconds)
  setU32(view, nanosecondsAt, Math.floor((ms - seconds * 1000) * 1e6))
}

export function writeAttrOut(view: DataView, at: number, entry: Entry): void {
  writeTtl(view, at + attrOut.attrValid, at + attrOut.attrValidNsec, entry.attributeTtlMs)
  setU32(view, at + attrOut.attrValidNsec + 4, 0)
  writeAttributes(view, at + attrOut.attr, entry.attributes)
}

export function writeEntryOut(view: DataView, at: number, entry: Entry): void {
  set64(view, at + entryOut.nodeid, entry.attributes.ino)
  // A node id is never reused within a mount, so its generation never changes.
  set64(view, at + entryOut.generation, 0)
  writeTtl(view, at + entryOut.entryValid, at + entryOut.entryValidNsec, entry.entryTtlMs)
  writeTtl(view, at + entryOut.attrValid, at + entryOut.attrValidNsec, entry.attributeTtlMs)
  writeAttributes(view, at + entryOut.attr, entry.attributes)
}

/** Writes node id 0: the kernel caches for `entryTtlMs` that the name does not exist. */
export function writeNegativeEntryOut(view: DataView, at: number, entryTtlMs: number): void {
  new Uint8Array(view.buffer, view.byteOffset + at, entryOut.sizeOf).fill(0)
  writeTtl(view, at + entryOut.entryValid, at + entryOut.entryValidNsec, entryTtlMs)
}

export function writeOpenOut(view: DataView, at: number, fh: number, flags: number): void {
  set64(view, at + openOut.fh, fh)
  setU32(view, at + openOut.openFlags, flags)
  setU32(view, at + openOut.openFlags + 4, 0)
}

export function openFlagsOf(opened: Opened): number {
  return (
    (opened.directIo ? openFlag.directIo : 0) |
    (opened.keepCache ? openFlag.keepCache : 0) |
    // Linux before 5.17 ignores it, and sends FLUSH all the same.
    (opened.hasNothingToFlush ? openFlag.noflush : 0)
  )
}

export function writeStatistics(view: DataView, at: number, statistics: FilesystemStatistics): void {
  new Uint8Array(view.buffer, view.byteOffset + at, kstatfs.sizeOf).fill(0)
  set64(view, at + kstatfs.blocks, statistics.blocks)
  set64(view, at + kstatfs.bfree, statistics.blocksFree)
  set64(view, at + kstatfs.bavail, statistics.blocksFree)
  set64(view, at + kstatfs.files, statistics.files)
  set64(view, at + kstatfs.ffree, statistics.filesFree)
  setU32(view, at + kstatfs.bsize, statistics.blockSizeBytes)
  setU32(view, at + kstatfs.namelen, statistics.nameMax)
  setU32(view, at + kstatfs.frsize, statistics.blockSizeBytes)
}
