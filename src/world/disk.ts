// File calls for spool, disk cache, lost+found and pins, and for the sync of the journal's log. Names, results and errors are
// those of `node:fs`. The database files themselves are opened by libsql, which does not use this interface.

import * as fs from 'node:fs'
import * as promises from 'node:fs/promises'
import { promisify } from 'node:util'

type Stats = Pick<fs.Stats, 'dev' | 'ino' | 'size' | 'blocks' | 'mtimeMs'>
type FreeSpace = Pick<fs.StatsFs, 'bavail' | 'bsize' | 'blocks'>

export type OpenFlags = 'a' | 'r' | 'r+' | 'w' | 'w+' | 'wx' | 'wx+'

/** An open file, as `FileHandle` of `node:fs/promises`. */
export interface OpenFile {
  readonly fd: number
  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }>
  writev(pieces: readonly Uint8Array[], position?: number): Promise<{ bytesWritten: number }>
  utimes(atime: Date, mtime: Date): Promise<void>
  sync(): Promise<void>
  close(): Promise<void>
}

/** Calls ending in `Sync` block this thread, and are used for short operations. */
export interface Disk {
  openSync(path: string, flags: OpenFlags, mode?: number): number
  closeSync(fd: number): void
  readSync(fd: number, buffer: Uint8Array, offset: number, length: number, position: number): number
  writeSync(fd: number, bytes: Uint8Array, offset: number, length: number, position: number): number
  fstatSync(fd: number): Stats
  fsyncSync(fd: number): void
  existsSync(path: string): boolean
  statSync(path: string): Stats
  statfsSync(path: string): FreeSpace
  readdirSync(path: string): string[]
  readFileSync(path: string, encoding: 'utf8'): string
  writeFileSync(path: string, data: string | Uint8Array, options: { mode: number }): void
  mkdirSync(path: string, options: { recursive: true; mode: number }): void
  chmodSync(path: string, mode: number): void
  renameSync(from: string, to: string): void
  unlinkSync(path: string): void

  read(
    fd: number,
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ bytesRead: number }>
  write(
    fd: number,
    bytes: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ bytesWritten: number }>
  writev(fd: number, pieces: readonly Uint8Array[], position: number): Promise<{ bytesWritten: number }>
  ftruncate(fd: number, size: number): Promise<void>
  fdatasync(fd: number): Promise<void>
  open(path: string, flags: OpenFlags, mode?: number): Promise<OpenFile>
  /** Opens an existing file for direct I/O (O_DIRECT): offsets, lengths and buffers must be aligned to the disk's blocks. */
  openPastPages(path: string): Promise<OpenFile>
  stat(path: string): Promise<Stats>
  statfs(path: string): Promise<FreeSpace>
  readdir(path: string): Promise<string[]>
  mkdir(path: string, options: { recursive: true; mode: number }): Promise<unknown>
  rename(from: string, to: string): Promise<void>
  unlink(path: string): Promise<void>
  rmdir(path: string): Promise<void>
  /** `mode` as `constants.COPYFILE_…`. */
  copyFile(from: string, to: string, mode?: number): Promise<void>
}

/** Copy mode: the copy shares blocks with the original, if the file system can. */
export const copyByReference: number = fs.constants.COPYFILE_FICLONE
/** Copy mode: fails with EEXIST instead of overwriting. */
export const copyBesideOthers: number = fs.constants.COPYFILE_EXCL

const { O_RDONLY, O_WRONLY, O_RDWR, O_CREAT, O_EXCL, O_TRUNC, O_NOFOLLOW, O_APPEND, O_DIRECT } = fs.constants
/** Flags of open(2). Files are never written through a symbolic link (O_NOFOLLOW, O_EXCL). */
const openFlags: Readonly<Record<OpenFlags, number>> = {
  a: O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW,
  r: O_RDONLY,
  'r+': O_RDWR | O_NOFOLLOW,
  w: O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW,
  'w+': O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW,
  wx: O_WRONLY | O_CREAT | O_EXCL,
  'wx+': O_RDWR | O_CREAT | O_EXCL,
}

export const systemDisk: Disk = {
  openSync: (path, flags, mode) => fs.openSync(path, openFlags[flags], mode),
  closeSync: fs.closeSync,
  readSync: fs.readSync,
  writeSync: fs.writeSync,
  fstatSync: fs.fstatSync,
  fsyncSync: fs.fsyncSync,
  existsSync: fs.existsSync,
  statSync: fs.statSync,
  statfsSync: fs.statfsSync,
  readdirSync: fs.readdirSync,
  readFileSync: fs.readFileSync,
  writeFileSync(path, data, { mode }) {
    const fd = fs.openSync(path, openFlags.w, mode)
    try {
      fs.writeFileSync(fd, data)
    } finally {
      fs.closeSync(fd)
    }
  },
  mkdirSync: fs.mkdirSync,
  chmodSync: fs.chmodSync,
  renameSync: fs.renameSync,
  unlinkSync: fs.unlinkSync,

  read: promisify(fs.read),
  write: promisify(fs.write),
  writev: promisify(fs.writev),
  ftruncate: promisify(fs.ftruncate),
  fdatasync: promisify(fs.fdatasync),
  open: (path, flags, mode) => promises.open(path, openFlags[flags], mode),
  openPastPages: (path) => promises.open(path, O_WRONLY | O_DIRECT | O_NOFOLLOW),
  stat: promises.stat,
  statfs: promises.statfs,
  readdir: promises.readdir,
  mkdir: promises.mkdir,
  rename: promises.rename,
  unlink: promises.unlink,
  rmdir: promises.rmdir,
  copyFile: promises.copyFile,
}

/** Syncs a file, or the names in a folder. */
export function syncNow(path: string, disk: Pick<Disk, 'openSync' | 'fsyncSync' | 'closeSync'>): void {
  const fd = disk.openSync(path, 'r')
  try {
    disk.fsyncSync(fd)
  } finally {
    disk.closeSync(fd)
  }
}
