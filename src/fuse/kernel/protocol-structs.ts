// Layout of the kernel's structures: byte offset of each field, and size of the whole. Native byte order. In a message a
// structure follows the header; names (NUL-terminated) and data follow the structure.
// Source: uapi fuse.h; `test/fuse/kernel-structs.test.ts` compares every number with the header of the machine.

export const inHeader = {
  len: 0,
  opcode: 4,
  unique: 8,
  nodeid: 16,
  uid: 24,
  gid: 28,
  pid: 32,
  totalExtlen: 36,
  sizeOf: 40,
} as const

/** `error`: 0 or a negative errno; in a notification, its code. */
export const outHeader = { len: 0, error: 4, unique: 8, sizeOf: 16 } as const

export const initIn = { major: 0, minor: 4, maxReadahead: 8, flags: 12, flags2: 16, sizeOf: 64 } as const

export const initOut = {
  major: 0,
  minor: 4,
  maxReadahead: 8,
  flags: 12,
  maxBackground: 16,
  congestionThreshold: 18,
  maxWrite: 20,
  timeGran: 24,
  maxPages: 28,
  mapAlignment: 30,
  flags2: 32,
  sizeOf: 64,
} as const

export const attr = {
  ino: 0,
  size: 8,
  blocks: 16,
  atime: 24,
  mtime: 32,
  ctime: 40,
  atimensec: 48,
  mtimensec: 52,
  ctimensec: 56,
  mode: 60,
  nlink: 64,
  uid: 68,
  gid: 72,
  rdev: 76,
  blksize: 80,
  flags: 84,
  sizeOf: 88,
} as const

export const entryOut = {
  nodeid: 0,
  generation: 8,
  entryValid: 16,
  attrValid: 24,
  entryValidNsec: 32,
  attrValidNsec: 36,
  attr: 40,
  sizeOf: 128,
} as const

export const attrOut = { attrValid: 0, attrValidNsec: 8, attr: 16, sizeOf: 104 } as const

export const forgetIn = { nlookup: 0, sizeOf: 8 } as const
export const batchForgetIn = { count: 0, sizeOf: 8 } as const
export const forgetOne = { nodeid: 0, nlookup: 8, sizeOf: 16 } as const

/** Request of GETXATTR and LISTXATTR. `size` 0 asks for the length of the answer. */
export const getxattrIn = { size: 0, sizeOf: 8 } as const

export const setxattrIn = { size: 0, flags: 4, setxattrFlags: 8 } as const

export const getxattrOut = { size: 0, sizeOf: 8 } as const

export const getattrIn = { getattrFlags: 0, fh: 8, sizeOf: 16 } as const

export const setattrIn = {
  valid: 0,
  fh: 8,
  size: 16,
  lockOwner: 24,
  atime: 32,
  mtime: 40,
  ctime: 48,
  atimensec: 56,
  mtimensec: 60,
  ctimensec: 64,
  mode: 68,
  uid: 76,
  gid: 80,
  sizeOf: 88,
} as const

export const mknodIn = { mode: 0, rdev: 4, umask: 8, sizeOf: 16 } as const
export const mkdirIn = { mode: 0, umask: 4, sizeOf: 8 } as const
export const renameIn = { newdir: 0, sizeOf: 8 } as const
export const rename2In = { newdir: 0, flags: 8, sizeOf: 16 } as const

export const openIn = { flags: 0, openFlags: 4, sizeOf: 8 } as const
export const createIn = { flags: 0, mode: 4, umask: 8, openFlags: 12, sizeOf: 16 } as const
export const openOut = { fh: 0, openFlags: 8, sizeOf: 16 } as const
export const releaseIn = { fh: 0, flags: 8, releaseFlags: 12, lockOwner: 16, sizeOf: 24 } as const
export const flushIn = { fh: 0, lockOwner: 16, sizeOf: 24 } as const
export const fsyncIn = { fh: 0, fsyncFlags: 8, sizeOf: 16 } as const

export const readIn = {
  fh: 0,
  offset: 8,
  size: 16,
  readFlags: 20,
  lockOwner: 24,
  flags: 32,
  sizeOf: 40,
} as const

export const writeIn = {
  fh: 0,
  offset: 8,
  size: 16,
  writeFlags: 20,
  lockOwner: 24,
  flags: 32,
  sizeOf: 40,
} as const

export const writeOut = { size: 0, sizeOf: 8 } as const

export const fallocateIn = { fh: 0, offset: 8, length: 16, mode: 24, sizeOf: 32 } as const

export const copyFileRangeIn = {
  fhIn: 0,
  offIn: 8,
  nodeidOut: 16,
  fhOut: 24,
  offOut: 32,
  len: 40,
  flags: 48,
  sizeOf: 56,
} as const

/** Answer to COPY_FILE_RANGE_64; the older opcode's is `writeOut`. */
export const copyFileRangeOut = { bytesCopied: 0, sizeOf: 8 } as const

export const kstatfs = {
  blocks: 0,
  bfree: 8,
  bavail: 16,
  files: 24,
  ffree: 32,
  bsize: 40,
  namelen: 44,
  frsize: 48,
  sizeOf: 80,
} as const

/** The name follows at `sizeOf`; an entry is padded to 8 bytes. */
export const dirent = { ino: 0, off: 8, namelen: 16, type: 20, sizeOf: 24 } as const

/** An `entryOut`, then a `dirent`. */
export const direntplus = { entryOut: 0, dirent: 128, sizeOf: 152 } as const

export const interruptIn = { unique: 0, sizeOf: 8 } as const

export const notifyInvalInodeOut = { ino: 0, off: 8, len: 16, sizeOf: 24 } as const

/** The name follows, with its NUL; `namelen` does not count the NUL. */
export const notifyInvalEntryOut = { parent: 0, namelen: 8, flags: 12, sizeOf: 16 } as const

/** `count` node ids of 8 bytes follow. */
export const notifyPruneOut = { count: 0, sizeOf: 16 } as const
