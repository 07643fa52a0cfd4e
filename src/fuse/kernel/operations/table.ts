// The handler of each opcode. INIT, DESTROY, FORGET and INTERRUPT are handled in session.ts.

import { opcode } from '../protocol-opcodes.ts'
import {
  copyFileRange,
  copyFileRange64,
  create,
  fallocate,
  flush,
  fsync,
  open,
  read,
  release,
  write,
} from './files.ts'
import { fsyncdir, opendir, readdir, readdirplus, releasedir } from './folders.ts'
import { mkdir, mknod, rename, rename2, rmdir, unlink } from './names.ts'
import { getattr, listxattr, lookup, setattr, statfs } from './nodes.ts'
import type { Operation } from './operation.ts'

export const operationTable: ReadonlyMap<number, Operation> = new Map([
  [opcode.lookup, lookup],
  [opcode.getattr, getattr],
  [opcode.setattr, setattr],
  [opcode.statfs, statfs],
  [opcode.mknod, mknod],
  [opcode.mkdir, mkdir],
  [opcode.unlink, unlink],
  [opcode.rmdir, rmdir],
  [opcode.rename, rename],
  [opcode.rename2, rename2],
  [opcode.open, open],
  [opcode.create, create],
  [opcode.read, read],
  [opcode.write, write],
  [opcode.flush, flush],
  [opcode.fsync, fsync],
  [opcode.release, release],
  [opcode.fallocate, fallocate],
  [opcode.copyFileRange, copyFileRange],
  [opcode.copyFileRange64, copyFileRange64],
  [opcode.opendir, opendir],
  [opcode.readdir, readdir],
  [opcode.readdirplus, readdirplus],
  [opcode.releasedir, releasedir],
  [opcode.fsyncdir, fsyncdir],
])

/** The same, and LISTXATTR, for a drive that a file server may enter (`isOpenToFileServers`). */
export const fileServerTable: ReadonlyMap<number, Operation> = new Map([
  ...operationTable,
  [opcode.listxattr, listxattr],
])

/**
 * Opcodes that are always refused, with their errno. All others get ENOSYS. The kernel then stops sending those it can do
 * without: xattrs, locks, ACCESS, POLL, LSEEK (holes), STATX. It goes on sending IOCTL, one per isatty().
 */
export const refusedWith: ReadonlyMap<number, string> = new Map([
  [opcode.readlink, 'EINVAL'],
  [opcode.symlink, 'EPERM'],
  [opcode.link, 'EPERM'],
])
