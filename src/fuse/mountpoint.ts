// The mountpoint: its true path, and a check that it can be used. The mount table is read before the folder is touched: a
// stat of a mount whose daemon hangs does not return.

import { readdir, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { MountError } from './driver.ts'
import { docmountType, findMountOfDescriptor, type MountLine, readMountinfo } from './mountinfo.ts'
import { runProgram } from './run-program.ts'
import { unmount } from './unmount.ts'

/** Returns the N of `/dev/fd/N`, by which mount.fuse3 (drop_privileges) passes a mount it has made; else undefined. */
export function passedDescriptor(mountpoint: string): number | undefined {
  const digits = /^\/dev\/fd\/(\d+)$/.exec(mountpoint)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/**
 * Resolves with the absolute path, symbolic links followed as far as it exists. For a passed descriptor: the folder of its
 * mount, where the kernel tells.
 */
export async function resolveMountpoint(path: string): Promise<string> {
  const descriptor = passedDescriptor(path)
  if (descriptor !== undefined) return (await findMountOfDescriptor(descriptor))?.mountpoint ?? path
  const absolute = resolve(path)
  if (dirname(absolute) === absolute) return absolute
  const parent = await realpath(dirname(absolute)).catch(() => dirname(absolute))
  const candidate = join(parent, basename(absolute))
  if ((await findMountAt(candidate)) !== undefined) return candidate
  return realpath(candidate).catch(() => candidate)
}

/** Resolves with the topmost mount at exactly this path. */
export async function findMountAt(path: string): Promise<MountLine | undefined> {
  return (await readMountinfo()).findLast(({ mountpoint }) => mountpoint === path)
}

/**
 * Resolves with the mountpoint as the kernel will list it: an empty folder with nothing mounted on it. The mount of a
 * crashed docmount is removed first. Throws a MountError that says what to do.
 */
export async function prepareMountpoint(wanted: string): Promise<string> {
  const mountpoint = await resolveMountpoint(wanted)
  await removeDeadMount(mountpoint)
  let names: readonly string[]
  try {
    if (!(await stat(mountpoint)).isDirectory())
      throw new MountError('ENOTDIR', `the mountpoint ${mountpoint} is not a folder`)
    names = await readdir(mountpoint)
  } catch (error) {
    throw unusable(mountpoint, error)
  }
  if (names.length === 0) return mountpoint
  throw new MountError(
    'ENOTEMPTY',
    `the mountpoint ${mountpoint} is not empty (it holds ${names.slice(0, 3).join(', ')}): perhaps files that were saved ` +
      `while nothing was mounted. Move them away, mount, and copy them in; or choose an empty folder`,
  )
}

/** True when the mount's daemon is gone: then the kernel answers ENOTCONN. A child process asks, since the call may hang. */
export async function isDisconnected(mountpoint: string): Promise<boolean> {
  const { code, stderr } = await runProgram('stat', ['--', mountpoint], { limitMs: 5000 })
  return code !== 0 && /not connected|connection abort/i.test(stderr)
}

async function removeDeadMount(mountpoint: string): Promise<void> {
  const mount = await findMountAt(mountpoint)
  if (mount === undefined) return
  if (mount.type === docmountType && (await isDisconnected(mountpoint))) {
    await unmount(mountpoint, { lazy: true })
    return
  }
  const why = mount.type === docmountType ? 'another docmount serves it' : `${mount.type} is mounted there`
  throw new MountError('EBUSY', `the mountpoint ${mountpoint} is busy: ${why}; unmount it or choose another`)
}

/** Returns a MountError for an error with an errno; other errors unchanged. */
export function unusable(mountpoint: string, error: unknown): unknown {
  if (error instanceof MountError) return error
  const { code } = error as NodeJS.ErrnoException
  if (code === undefined) return error
  return new MountError(code, `the mountpoint ${mountpoint} ${describe(mountpoint, code)}`, { cause: error })
}

function describe(mountpoint: string, code: string): string {
  switch (code) {
    case 'ENOENT':
      return `does not exist; run: mkdir -p ${mountpoint}`
    case 'ENOTDIR':
      return 'is not a folder'
    case 'EACCES':
    case 'EPERM':
      return 'may not be read by this user: choose a folder of your own'
    default:
      return `cannot be used: ${code}`
  }
}
