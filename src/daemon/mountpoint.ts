// The folder a drive appears at, before and after the mount: made where it is missing, closed while nothing is mounted.

import { constants } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { findMountAt, prepareMountpoint, unusable } from '../fuse/mountpoint.ts'
import { DaemonError } from './daemon-error.ts'
import { isAlive } from './mount-record.ts'
import { readOwnRecords } from './own-records.ts'

/**
 * Throws a DaemonError or MountError unless a drive can appear here: an existing empty folder that is no mount. The
 * mount of a crashed docmount is cleaned away first. Answers whether the folder had to be made, which `makeIfMissing`
 * allows. The check is the driver's own, made before anything is begun; this knows whose drive is there already.
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

/** Of a mountpoint docmount made, while nothing is mounted: nobody but root can put a file where the drive should be. */
const closedMode = 0o500
/** While it is being mounted: fusermount3 asks for the right to write. */
const openMode = 0o700

/**
 * Opens a mountpoint that docmount made, now (`isMade`) or earlier, for mounting. Answers how it is closed again: by a
 * descriptor, since its path leads to the drive from then on. A folder that somebody else made is left as it is.
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
