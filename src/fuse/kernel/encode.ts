// Our answers as the kernel's structures. Pure: each function writes at `at` and answers nothing.

import type { Attributes, Entry, FilesystemStatistics, Opened } from '../../fs/operations.ts'
import { set64, setU32 } from './fields.ts'
import { fileType, openFlag } from './protocol-flags.ts'
import { attr, attrOut, entryOut, kstatfs, openOut } from './protocol-structs.ts'

/** st_blksize, which programs take as their buffer's size: one READ or WRITE of this size is one round trip. */
const preferredBlockBytes = 128 * 1024

/** st_blocks counts 512 bytes each, whatever st_blksize says. */
const statBlockBytes = 512

/** Beyond any uptime, and safe in the kernel's jiffies. */
const longestTtlMs = 365 * 24 * 3_600_000

/** `attr.mode`'s file type bits. */
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
  // Node ids are never given to another node within a mount, so their generation never changes.
  set64(view, at + entryOut.generation, 0)
  writeTtl(view, at + entryOut.entryValid, at + entryOut.entryValidNsec, entry.entryTtlMs)
  writeTtl(view, at + entryOut.attrValid, at + entryOut.attrValidNsec, entry.attributeTtlMs)
  writeAttributes(view, at + entryOut.attr, entry.attributes)
}

/** Node id 0 with a time: the kernel keeps the news that the name does not exist. */
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
    // From Linux 5.17 on; older ones ask all the same.
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
