// The mountpoint's folder before and after the mount: created if it is missing, and read-only while nothing is mounted. The kernel
// door calls `reserveMountpoint`, then `openMountpoint`, and mounts.

import { constants } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { findMountAt, prepareMountpoint, unusable } from '../fuse/mountpoint.ts'
import { DaemonError } from './daemon-error.ts'
import { isAlive } from './mount-record.ts'
import { readOwnRecords } from './own-records.ts'

/**
 * Checks that a drive can be mounted here, in an empty folder that is no mount, before anything else is started. Removes the
 * mount of a crashed docmount. Resolves with true if it created the folder (`makeIfMissing`). Throws a DaemonError or
 * MountError, which names a live drive at this place.
 */
export async function reserveMountpoint(
  mountpoint: string,
  options: { makeIfMissing: boolean; runtimeDir: string },
): Promise<boolean> {
  if ((await findMountAt(mountpoint)) !== undefined) await refuseLive(mountpoint, options.runtimeDir)
  else if (options.makeIfMissing && (await makeFolder(mountpoint))) return true
  await prepareMountpoint(mountpoint)
  return false
}

async function refuseLive(mountpoint: string, runtimeDir: string): Promise<void> {
  for (const record of await readOwnRecords(runtimeDir)) {
    if (record.mountpoint === mountpoint && (await isAlive(record))) {
      throw new DaemonError(
        `the mountpoint ${mountpoint} is busy: ${record.project} of ${record.baseUrl} is mounted there ` +
          `(process ${record.pid}); choose another folder, or unmount it first`,
      )
    }
  }
}

async function makeFolder(mountpoint: string): Promise<boolean> {
  try {
    return (await mkdir(mountpoint, { recursive: true })) !== undefined
  } catch (error) {
    throw unusable(mountpoint, error)
  }
}

/** Mode of a mountpoint that docmount created, while nothing is mounted: only root can save a file beside the drive by mistake. */
const closedMode = 0o500
/** Mode while it is being mounted: fusermount3 requires write access. */
const openMode = 0o700

/**
 * Makes a mountpoint writable for mounting. Resolves with a function that makes it read-only again, by a descriptor, since the
 * path leads to the drive then. Does nothing for folders that docmount did not create, now (`isMade`) or earlier.
 */
export async function openMountpoint(mountpoint: string, isMade: boolean): Promise<() => Promise<void>> {
  const folder = await open(mountpoint, constants.O_RDONLY | constants.O_DIRECTORY)
  const { mode, uid } = await folder.stat()
  const isOurs = uid === process.geteuid?.() && (isMade || (mode & 0o7777) === closedMode)
  if (!isOurs) {
    await folder.close()
    return async () => {}
  }
  await folder.chmod(openMode)
  let closing: Promise<void> | undefined
  const close = async (): Promise<void> => {
    await folder.chmod(closedMode)
    await folder.close()
  }
  return () => (closing ??= close())
}
