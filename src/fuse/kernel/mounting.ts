// Mounting: by mount(8) as root, by the setuid fusermount3 as any other user. The result is an open /dev/fuse whose first
// request is INIT.

import { closeSync, openSync } from 'node:fs'
import { MountError, type MountOptions } from '../driver.ts'
import { maxWriteBytes } from './channel.ts'
import { loadSockets, receiveFromFusermount } from './fd-passing.ts'
import { runProgram } from '../run-program.ts'

/** Second part of the type in /proc/mounts: `fuse.docmount`. */
const subtype = 'docmount'

export function isRoot(): boolean {
  return process.geteuid?.() === 0
}

/** Mounts at `mountpoint`, a path without symbolic links. Resolves with the descriptor. Throws a MountError with a fix. */
export function mountKernel(mountpoint: string, options: MountOptions): Promise<number> {
  return isRoot() ? mountAsRoot(mountpoint, options) : mountAsUser(mountpoint, options)
}

function sharedOptions(options: MountOptions): string[] {
  return [
    'default_permissions',
    'nosuid',
    'nodev',
    `max_read=${maxWriteBytes}`,
    ...(options.allowOther ? ['allow_other'] : []),
    ...(options.readOnly ? ['ro'] : []),
  ]
}

async function mountAsRoot(mountpoint: string, options: MountOptions): Promise<number> {
  const fd = openDevice()
  const mountOptions = [
    'fd=3',
    'rootmode=40000',
    `user_id=${process.getuid?.() ?? 0}`,
    `group_id=${process.getgid?.() ?? 0}`,
    ...sharedOptions(options),
  ]
  // -i: without the helper mount.fuse, which would start a daemon of its own.
  const args = ['-i', '-t', `fuse.${subtype}`, '-o', mountOptions.join(','), '--', options.source, mountpoint]
  try {
    const { code, stderr } = await runProgram('mount', args, { fd })
    if (code !== 0) throw mountFailure(mountpoint, stderr)
    return fd
  } catch (error) {
    closeSync(fd)
    if (error instanceof MountError) throw error
    throw new MountError('ENOENT', 'the program mount is missing: install util-linux', { cause: error })
  }
}

function mountFailure(mountpoint: string, stderr: string): MountError {
  const reason = `cannot mount on ${mountpoint}: ${stderr.split('\n')[0]}`
  if (!/permission|not permitted|superuser/i.test(stderr)) return new MountError('EIO', reason)
  return new MountError('EPERM', `${reason}; in a container add --device /dev/fuse --cap-add SYS_ADMIN`)
}

function openDevice(): number {
  try {
    return openSync('/dev/fuse', 'r+')
  } catch (error) {
    const { code = 'EIO' } = error as NodeJS.ErrnoException
    const fix = code === 'EACCES' || code === 'EPERM' ? 'this process may not open it' : 'run: modprobe fuse'
    throw new MountError(code, `cannot open /dev/fuse (${code}): ${fix}`, { cause: error })
  }
}

/** Escapes backslash and comma, the two characters that fusermount3 unescapes in its options. */
function escaped(value: string): string {
  return value.replace(/[\\,]/g, '\\$&')
}

async function mountAsUser(mountpoint: string, options: MountOptions): Promise<number> {
  const mountOptions = [`fsname=${escaped(options.source)}`, `subtype=${subtype}`, ...sharedOptions(options)]
  const sockets = await loadSockets()
  if (sockets === undefined)
    throw new MountError(
      'ENOTSUP',
      'nothing can receive the descriptor from fusermount3: run npm install koffi',
    )
  return receiveFromFusermount(['-o', mountOptions.join(','), '--', mountpoint], sockets)
}
