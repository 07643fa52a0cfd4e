// The bits of the protocol, by the field that carries them. Values: uapi fuse.h, stat.h, fs.h, falloc.h.

import { constants } from 'node:fs'

/** `initIn.flags` and `initOut.flags`. */
export const initFlag = {
  asyncRead: 0x1,
  posixLocks: 0x2,
  atomicOTrunc: 0x8,
  exportSupport: 0x10,
  bigWrites: 0x20,
  dontMask: 0x40,
  flockLocks: 0x400,
  autoInvalData: 0x1000,
  doReaddirplus: 0x2000,
  readdirplusAuto: 0x4000,
  asyncDio: 0x8000,
  writebackCache: 0x10000,
  noOpenSupport: 0x20000,
  parallelDirops: 0x40000,
  handleKillpriv: 0x80000,
  posixAcl: 0x100000,
  abortError: 0x200000,
  maxPages: 0x400000,
  cacheSymlinks: 0x800000,
  noOpendirSupport: 0x1000000,
  explicitInvalData: 0x2000000,
} as const

/** `openOut.openFlags`. */
export const openFlag = {
  directIo: 0x1,
  keepCache: 0x2,
  cacheDir: 0x8,
  noflush: 0x20,
} as const

/** `getattrIn.getattrFlags`. */
export const getattrFlag = { fh: 0x1 } as const

/** `setattrIn.valid`: the fields that are to be set. */
export const setattrValid = {
  mode: 0x1,
  uid: 0x2,
  gid: 0x4,
  size: 0x8,
  atime: 0x10,
  mtime: 0x20,
  fh: 0x40,
  atimeNow: 0x80,
  mtimeNow: 0x100,
} as const

/** `rename2In.flags`. */
export const renameFlag = { noReplace: 0x1, exchange: 0x2 } as const

/** `fallocateIn.mode`. */
export const fallocateMode = { keepSize: 0x1 } as const

/** File types in `attr.mode`; shifted right by 12 they are the `dirent.type`. */
export const fileType = { mask: 0o170000, regular: 0o100000, folder: 0o040000 } as const

/** open(2) flags as this machine's kernel numbers them, in `openIn.flags` and `createIn.flags`. */
export const openMode: Readonly<
  Record<'accessMode' | 'writeOnly' | 'readWrite' | 'append' | 'truncate' | 'exclusive', number>
> = {
  accessMode: 0o3,
  writeOnly: constants.O_WRONLY,
  readWrite: constants.O_RDWR,
  append: constants.O_APPEND,
  truncate: constants.O_TRUNC,
  exclusive: constants.O_EXCL,
}
