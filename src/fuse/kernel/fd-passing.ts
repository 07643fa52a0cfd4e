// Mounting through fusermount3, which opens /dev/fuse and passes its descriptor over a local socket (SCM_RIGHTS). Node
// cannot receive one, so two C functions are called through koffi.

import { closeSync } from 'node:fs'
import type Koffi from 'koffi'
import { MountError } from '../driver.ts'
import { runProgram } from '../run-program.ts'

/** Runs fusermount3. Resolves with the mounted descriptor, which children do not inherit. Throws a MountError with a fix. */
export async function receiveFromFusermount(args: readonly string[], sockets: Sockets): Promise<number> {
  const [ours, theirs] = sockets.pair()
  try {
    await runFusermount(args, theirs)
    const fd = sockets.receiveDescriptor(ours)
    if (fd === undefined) throw new MountError('EIO', 'fusermount3 mounted, but sent no descriptor')
    return fd
  } finally {
    closeSync(ours)
    closeSync(theirs)
  }
}

async function runFusermount(args: readonly string[], fd: number): Promise<void> {
  try {
    const { code, stderr } = await runProgram('fusermount3', args, { fd, env: { _FUSE_COMMFD: '3' } })
    if (code !== 0) throw new MountError('EPERM', fusermountFailure(stderr))
  } catch (error) {
    if (error instanceof MountError) throw error
    throw new MountError('ENOENT', 'fusermount3 is missing: install the package fuse3', { cause: error })
  }
}

/** The reason that fusermount3 gives, with a fix where one is known. */
function fusermountFailure(stderr: string): string {
  const reason = stderr.replace(/^fusermount3: /, '').split('\n')[0] ?? ''
  const fix = /user_allow_other/.test(stderr)
    ? ': ask the administrator to put a line user_allow_other into /etc/fuse.conf, or leave --allow-other out'
    : /no write access/.test(stderr)
      ? ': the mountpoint must be a folder of your own'
      : /open \/dev\/fuse: Permission/.test(stderr)
        ? ': as root run chmod 666 /dev/fuse'
        : /device not found|modprobe/.test(stderr)
          ? ': run modprobe fuse'
          : ''
  return `fusermount3 refuses: ${reason}${fix}`
}

export interface Sockets {
  pair(): [number, number]
  /** Returns undefined when no descriptor was sent. Never waits. */
  receiveDescriptor(socket: number): number | undefined
}

/** Linux's constants, the same on every architecture Node runs on. */
const linux = {
  AF_UNIX: 1,
  SOCK_STREAM: 1,
  SOCK_CLOEXEC: 0o2000000,
  MSG_DONTWAIT: 0x40,
  MSG_CMSG_CLOEXEC: 0x40000000,
} as const

let sockets: Promise<Sockets | undefined> | undefined

/** Resolves with undefined where koffi, an optional dependency, does not load. Once per process: its type names are global. */
export function loadSockets(): Promise<Sockets | undefined> {
  sockets ??= import('koffi').then(
    ({ default: koffi }) => defineSockets(koffi),
    () => undefined,
  )
  return sockets
}

function defineSockets(koffi: typeof Koffi): Sockets {
  // `null` is this process, with its C library (glibc or musl).
  const library = koffi.load(null)
  koffi.struct('docmount_iovec', { base: 'void *', length: 'size_t' })
  koffi.struct('docmount_msghdr', {
    name: 'void *',
    namelen: 'uint32_t',
    iov: 'docmount_iovec *',
    iovlen: 'size_t',
    control: 'void *',
    controllen: 'size_t',
    flags: 'int',
  })
  const socketpair = library.func('int socketpair(int domain, int type, int protocol, _Out_ int *pair)')
  const recvmsg = library.func('long recvmsg(int socket, _Inout_ docmount_msghdr *message, int flags)')

  return {
    pair() {
      const pair: [number, number] = [-1, -1]
      const failed = socketpair(linux.AF_UNIX, linux.SOCK_STREAM | linux.SOCK_CLOEXEC, 0, pair) as number
      if (failed !== 0) throw new MountError('EIO', 'cannot make a pair of sockets')
      return pair
    },
    receiveDescriptor(socket) {
      const byte = Buffer.alloc(1)
      // A cmsghdr (length, level, type) and one descriptor, on 64-bit machines.
      const control = Buffer.alloc(24)
      const message = {
        name: null,
        namelen: 0,
        iov: [{ base: byte, length: 1 }],
        iovlen: 1,
        control,
        controllen: control.length,
        flags: 0,
      }
      const length = recvmsg(socket, message, linux.MSG_DONTWAIT | linux.MSG_CMSG_CLOEXEC) as number
      const [descriptor] = new Int32Array(control.buffer, control.byteOffset + 16, 1)
      return length === 1 && descriptor !== undefined && descriptor > 0 ? descriptor : undefined
    },
  }
}
