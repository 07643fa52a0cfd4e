// Finds the drive a path belongs to, comparing text with the mount table and the mount records. Never touches a mount.

import { realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { docmountType, type MountLine, readMountinfo } from '../fuse/mountinfo.ts'
import { isAlive, type MountRecord } from './mount-record.ts'
import { readOwnRecords, readRecordsOfOtherHomes } from './own-records.ts'
import { isAtOrUnder } from './path-inside.ts'
import { runtimeFolder } from './xdg.ts'

/** A drive as seen from outside; at least one of `record` and `mount` is there. */
export interface FoundMount {
  readonly mountpoint: string
  /** The record its daemon wrote; absent when it was made by another user or its record was lost. */
  readonly record: MountRecord | undefined
  readonly isDaemonAlive: boolean
  /** This user started it with another home folder: a command means it only where its place is named. */
  readonly isOfOtherHome: boolean
  /** Absent when the kernel has no such mount any more. */
  readonly mount: MountLine | undefined
}

/** A path on a drive. */
export interface PathOnMount {
  readonly found: FoundMount
  /** Absolute in the project. */
  readonly path: string
}

/** False for a drive that another user mounted. */
export function isOwn({ record, mount }: FoundMount, uid: number | undefined = process.getuid?.()): boolean {
  return record !== undefined || mount?.owner === undefined || mount.owner === uid
}

/** The drives of this home: what a command means that names no place. */
export async function findDrivesOfHome(): Promise<
  readonly (FoundMount & { readonly record: MountRecord })[]
> {
  return (await findMounts()).filter(
    (found): found is FoundMount & { readonly record: MountRecord } =>
      found.record !== undefined && !found.isOfOtherHome,
  )
}

/** All drives of this user, and those of others that the mount table shows. */
export async function findMounts(runtimeDir: string = runtimeFolder()): Promise<readonly FoundMount[]> {
  const mounts = (await readMountinfo()).filter(({ type }) => type === docmountType)
  const own = await readOwnRecords(runtimeDir)
  const records = [...own, ...(await readRecordsOfOtherHomes(own))]
  const found = new Map<string, FoundMount>()
  for (const mount of mounts) {
    found.set(mount.mountpoint, {
      mountpoint: mount.mountpoint,
      record: undefined,
      isDaemonAlive: false,
      isOfOtherHome: false,
      mount,
    })
  }
  for (const record of records) {
    const { mountpoint } = record
    // Records of dead daemons stay until the next mount; a live one at the same place is the truth.
    if (found.get(mountpoint)?.isDaemonAlive === true) continue
    const mount = mounts.findLast((entry) => entry.mountpoint === mountpoint)
    found.set(mountpoint, {
      mountpoint,
      record,
      isDaemonAlive: await isAlive(record),
      isOfOtherHome: !own.includes(record),
      mount,
    })
  }
  return [...found.values()]
}

/** The drive a path lies on, innermost first; tried as written, then with the links of its folder followed. */
export async function findMountOf(
  path: string,
  runtimeDir: string = runtimeFolder(),
): Promise<PathOnMount | undefined> {
  const found = (await findMounts(runtimeDir)).toSorted((a, b) => b.mountpoint.length - a.mountpoint.length)
  if (isUrl(path)) {
    const byUrl = locate(found, path.replace(/\/+$/, ''))
    return byUrl === undefined ? undefined : { ...byUrl, path: decoded(byUrl.path) }
  }
  const absolute = resolve(path)
  const asWritten = locate(found, absolute)
  if (asWritten !== undefined) return asWritten
  const parent = await realpath(dirname(absolute)).catch(() => undefined)
  const asFollowed = parent === undefined ? undefined : locate(found, join(parent, basename(absolute)))
  if (asFollowed !== undefined) return asFollowed
  const real = await realpath(absolute).catch(() => undefined)
  return real === undefined ? undefined : locate(found, real)
}

/** The address of a drive that is served without a mount. */
export function isUrl(path: string): boolean {
  return /^https?:\/\//.test(path)
}

/** As a listing tells it (`R%26D.pdf`); what is no such address is a path as people type it. */
function decoded(path: string): string {
  try {
    return path.split('/').map(decodeURIComponent).join('/')
  } catch {
    return path
  }
}

function locate(mounts: readonly FoundMount[], absolute: string): PathOnMount | undefined {
  const found = mounts.find(({ mountpoint }) => isAtOrUnder(absolute, mountpoint))
  if (found === undefined) return undefined
  return { found, path: absolute.slice(found.mountpoint.length) || '/' }
}
