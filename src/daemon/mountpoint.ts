// The folder a drive appears at: finding its true path and checking it before the mount. Looks at the mount table before
// it touches anything, because a stat of a wedged mount never returns.

import { lstat, mkdir, readdir, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { findMountOfDescriptor, type MountLine, readMountinfo } from '../fuse/mountinfo.ts'
import { unmount } from '../fuse/unmount.ts'
import { DaemonError } from './daemon-error.ts'
import { docmountType, isDisconnected } from './leftover-mount.ts'
import { isAlive, readMountRecords } from './mount-record.ts'

/** The number of `/dev/fd/N`, the convention of fstab helpers: the mount was made already and its descriptor passed to us. */
export function passedDescriptor(mountpoint: string): number | undefined {
  const digits = /^\/dev\/fd\/(\d+)$/.exec(mountpoint)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/**
 * The absolute path with symbolic links followed; what does not exist yet is taken as written. Of a passed descriptor: the
 * folder it is mounted on, where the kernel tells.
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

/**
 * Throws a DaemonError unless a drive can appear here: an existing empty folder that is no mount. What a crashed docmount
 * left mounted is cleaned away first. Answers whether the folder had to be made, which `makeIfMissing` allows.
 */
export async function prepareMountpoint(
  mountpoint: string,
  options: { makeIfMissing: boolean; runtimeDir: string },
): Promise<boolean> {
  await clearMount(mountpoint, options.runtimeDir)
  const isMade = options.makeIfMissing && (await makeFolder(mountpoint))
  let names: readonly string[]
  try {
    const found = await lstat(mountpoint)
    if (!found.isDirectory()) throw new DaemonError(`the mountpoint ${mountpoint} is not a folder`)
    names = await readdir(mountpoint)
  } catch (error) {
    throw describeMountpointError(mountpoint, error)
  }
  if (names.length > 0) {
    throw new DaemonError(
      `the mountpoint ${mountpoint} is not empty (it holds ${names.slice(0, 3).join(', ')}); choose an empty folder`,
    )
  }
  return isMade
}

async function clearMount(mountpoint: string, runtimeDir: string): Promise<void> {
  const mount = await findMountAt(mountpoint)
  if (mount === undefined) return
  if (mount.type !== docmountType) {
    throw new DaemonError(
      `the mountpoint ${mountpoint} is busy: ${mount.type} is mounted there; choose another`,
    )
  }
  for (const record of await readMountRecords(runtimeDir)) {
    if (record.mountpoint === mountpoint && (await isAlive(record))) {
      throw new DaemonError(
        `the mountpoint ${mountpoint} is busy: ${record.project} is mounted there already (process ${record.pid}); ` +
          `run: docmount unmount ${mountpoint}`,
      )
    }
  }
  if (!(await isDisconnected(mountpoint))) {
    throw new DaemonError(
      `the mountpoint ${mountpoint} is busy: another docmount serves it; choose another or unmount it`,
    )
  }
  await unmount(mountpoint, { lazy: true })
}

async function makeFolder(mountpoint: string): Promise<boolean> {
  try {
    return (await mkdir(mountpoint, { recursive: true })) !== undefined
  } catch (error) {
    throw describeMountpointError(mountpoint, error)
  }
}

function describeMountpointError(mountpoint: string, error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException).code
  if (code === undefined) return error
  if (code === 'ENOENT') {
    return new DaemonError(`the mountpoint ${mountpoint} does not exist; run: mkdir -p ${mountpoint}`, {
      cause: error,
    })
  }
  return new DaemonError(`the mountpoint ${mountpoint} cannot be used: ${code}`, { cause: error })
}

/** The visible mount at exactly this path. */
async function findMountAt(path: string): Promise<MountLine | undefined> {
  return (await readMountinfo()).findLast(({ mountpoint }) => mountpoint === path)
}
