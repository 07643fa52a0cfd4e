// Numbers of the kernel's requests and notifications. Values: uapi fuse.h (protocol 7.45).

/** Requests of the kernel, in `inHeader.opcode`. */
export const opcode = {
  lookup: 1,
  forget: 2,
  getattr: 3,
  setattr: 4,
  readlink: 5,
  symlink: 6,
  mknod: 8,
  mkdir: 9,
  unlink: 10,
  rmdir: 11,
  rename: 12,
  link: 13,
  open: 14,
  read: 15,
  write: 16,
  statfs: 17,
  release: 18,
  fsync: 20,
  setxattr: 21,
  getxattr: 22,
  listxattr: 23,
  removexattr: 24,
  flush: 25,
  init: 26,
  opendir: 27,
  readdir: 28,
  releasedir: 29,
  fsyncdir: 30,
  getlk: 31,
  setlk: 32,
  setlkw: 33,
  access: 34,
  create: 35,
  interrupt: 36,
  bmap: 37,
  destroy: 38,
  ioctl: 39,
  poll: 40,
  batchForget: 42,
  fallocate: 43,
  readdirplus: 44,
  rename2: 45,
  lseek: 46,
  copyFileRange: 47,
  syncfs: 50,
  tmpfile: 51,
  statx: 52,
  copyFileRange64: 53,
} as const

/** Notifications to the kernel, in `outHeader.error` of a message with `unique` 0. */
export const notifyCode = {
  invalInode: 2,
  invalEntry: 3,
  prune: 9,
} as const

const names = new Map<number, string>(Object.entries(opcode).map(([name, value]) => [value, name]))

/** Returns a name for log lines: `getattr`, or `opcode 99` for an unknown number. */
export function opcodeName(value: number): string {
  return names.get(value) ?? `opcode ${value}`
}
