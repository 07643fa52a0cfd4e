// Finds drives, and the drive of a path, by the mount table and the mount records. Paths are compared as text: a mount that
// hangs is never touched.

import { realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { docmountType, type MountLine, readMountinfo } from '../fuse/mountinfo.ts'
import { isAlive, type MountRecord } from './mount-record.ts'
import { readOwnRecords, readRecordsOfOtherHomes } from './own-records.ts'
import { isAtOrUnder } from './path-inside.ts'
import { runtimeFolder } from './xdg.ts'

/** A drive; at least one of `record` and `mount` is defined. */
export interface FoundMount {
  readonly mountpoint: string
  /** Record of its daemon; undefined if another user mounted it, or the record was lost. */
  readonly record: MountRecord | undefined
  readonly isDaemonAlive: boolean
  /** True if this user started it with another home folder: commands concern it only if its path is given. */
  readonly isOfOtherHome: boolean
  /** Undefined if the kernel has no such mount (any more). */
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

/** Resolves with the drives of this home folder: those that a command without a path concerns. */
export async function findDrivesOfHome(): Promise<
  readonly (FoundMount & { readonly record: MountRecord })[]
> {
  return (await findMounts()).filter(
    (found): found is FoundMount & { readonly record: MountRecord } =>
      found.record !== undefined && !found.isOfOtherHome,
  )
}

/** Resolves with all drives of this user, and those of others in the mount table. */
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
    // Records of dead daemons stay until the next mount: a live one at the same place wins.
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

/** Resolves with the innermost drive of a path: taken as written, then with symbolic links of its folder, then its own followed. */
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

/** True for the address of a drive that is served without a mount. */
export function isUrl(path: string): boolean {
  return /^https?:\/\//.test(path)
}

/** Decodes an address as listings have it (`R%26D.pdf`); one that cannot be decoded is taken as typed. */
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
