// The data of the page: the state of each drive of this user, read from its control socket, and the end of its log. Never
// touches a mount.

import { createHash } from 'node:crypto'
import { activityFile, parseActivity } from '../daemon/activity.ts'
import { type Activity, withoutCounted } from '../daemon/activity-bursts.ts'
import { ask } from '../daemon/control-client.ts'
import type { MountStatus, TablesAnswer } from '../daemon/control-protocol.ts'
import { findMounts, type FoundMount, isOwn } from '../daemon/find-mount.ts'
import type { Former } from '../fs/former.ts'
import type { CacheStatus, NoRoom } from '../fs/pins/pin-status.ts'
import { plainReason } from './plain-words.ts'
import { lastLines, logTail } from './log-tail.ts'
import { Rates } from './rates.ts'

export interface DriveData {
  /** Id of the drive on the page; it stays the same. */
  readonly id: string
  readonly mountpoint: string
  /** True if its daemon is gone, and its mount record tells how to mount it again. */
  readonly canMount: boolean
  /** Undefined if no daemon answers: `problem` says why. */
  readonly status: MountStatus | undefined
  readonly problem: string | undefined
  readonly cache: CacheStatus | undefined
  readonly log: readonly string[]
  /** The latest changes, oldest first. */
  readonly activity: readonly Activity[]
  readonly tables: TablesAnswer | undefined
  /** Reason why `tables` is undefined. */
  readonly tablesProblem: string | undefined
  readonly rates: Rates
  /** Versions that were deleted or replaced at and under a path, if somebody asked for them. */
  readonly shown: ShownFormer | undefined
}

export interface ShownFormer {
  readonly path: string
  /** Latest first. */
  readonly former: readonly Former[]
  /** False if the drive keeps nothing more. */
  readonly isOn: boolean
  /** Reason why it cannot be shown. */
  readonly problem?: string
}

/** A drive that is not mounted. */
export interface UnmountedDrive {
  /** Name for `CliParts.mount`. */
  readonly id: string
  readonly project: string
  /** Mountpoint. */
  readonly place: string
  /** Leftovers on this machine, in words; undefined for none. */
  readonly left: string | undefined
  /** False for a state folder whose drive is unknown. */
  readonly canMount: boolean
}

export interface PageData {
  readonly drives: readonly DriveData[]
  readonly unmounted: readonly UnmountedDrive[]
}

/** Work and texts that the command line and the page share. */
export interface CliParts {
  describeDead(found: FoundMount): string
  unmounted(): Promise<readonly UnmountedDrive[]>
  /** Mounts the drive of this id, or of this state folder. Resolves with a sentence. Throws an error with one. */
  mount(id: string): Promise<string>
  /** Keeps a key that the service has accepted. Resolves with a sentence. Throws an error with one. */
  takeKey(baseUrl: string, key: string): Promise<string>
  describeNoRoom(path: string, noRoom: NoRoom): string
}

/** Fields of an entry in the list of unmounted drives that shows only an error. */
const nothing = { id: '', project: '', place: '', canMount: false }
const endedSentence =
  'This drive ended without being unmounted. What is not sent is kept on this machine, and is sent once it is mounted again.'
const shownChanges = 20
/** Lines that are read: each shown burst may be preceded by a dozen lines that it counts, and which are not shown. */
const tailLines = 12 * shownChanges
const tailBytes = 128 * 1024
const limitMs = 5_000
/** Lifetimes of cached data that changes rarely, or costs a call to the service. */
const unmountedForMs = 10_000
const cacheForMs = 5_000
const tablesForMs = 10_000
/** The whole store is read for it. */
const formerForMs = 30_000

export class PageDataReader {
  readonly #cli: CliParts
  readonly #rates = new Map<string, Rates>()
  /** Paths whose former versions are shown, by drive. */
  readonly #shownPaths = new Map<string, string>()
  readonly #cached = new Map<string, { readonly atMs: number; readonly value: unknown }>()

  constructor(cli: CliParts) {
    this.#cli = cli
  }

  /** As `ActionOptions.showFormer`. */
  showFormer(drive: string, path: string | undefined): void {
    if (path === undefined) this.#shownPaths.delete(drive)
    else this.#shownPaths.set(drive, path)
  }

  /** Never throws: errors are part of the data. */
  async read(): Promise<PageData> {
    const own = (await findMounts()).filter(isOnPage)
    // Drives without a daemon come last.
    const sorted = own.toSorted((a, b) => Number(b.isDaemonAlive) - Number(a.isDaemonAlive))
    const drives = await Promise.all(sorted.map((found) => this.#drive(found)))
    const ids = new Set(drives.map(({ id }) => id))
    for (const id of this.#rates.keys()) if (!ids.has(id)) this.#rates.delete(id)
    const unmounted = await this.#cachedFor('unmounted', unmountedForMs, () => this.#cli.unmounted()).catch(
      (error: unknown) => [{ ...nothing, left: plainReason((error as Error).message) }],
    )
    return {
      drives,
      unmounted: unmounted.filter(({ place }) => !own.some((each) => each.mountpoint === place)),
    }
  }

  /** Makes the next `read` load everything; call it after an action. */
  clearCache(): void {
    this.#cached.clear()
  }

  async #drive(found: FoundMount): Promise<DriveData> {
    const id = idOf(found)
    const { mountpoint, record, isDaemonAlive } = found
    const rates = this.#rates.get(id) ?? new Rates()
    this.#rates.set(id, rates)
    const log = (await logTail(record?.logFile)).map(plainReason)
    const activity = record === undefined ? [] : await latestActivity(record.id)
    const data = {
      id, mountpoint, log, activity, rates, canMount: record !== undefined && !isDaemonAlive,
      status: undefined, problem: undefined, cache: undefined, tables: undefined, tablesProblem: undefined, shown: undefined,
    } // prettier-ignore
    if (record === undefined) return { ...data, problem: this.#cli.describeDead(found) }
    if (!isDaemonAlive) return { ...data, problem: endedSentence }
    const { socketPath, pid } = record
    const limit = { signal: AbortSignal.timeout(limitMs) }
    try {
      const { mount: status } = await ask(socketPath, 'status', {}, limit)
      rates.add(status.unsent, performance.now())
      const [cache, tables, shown] = await Promise.all([
        this.#cachedFor(`cache ${id}`, cacheForMs, () => ask(socketPath, 'cache', {}, limit)).catch(
          () => undefined,
        ),
        this.#cachedFor(`tables ${id}`, tablesForMs, () => tablesOf(socketPath)),
        this.#shown(id, socketPath),
      ])
      return { ...data, status, cache, ...tables, shown }
    } catch (error) {
      const why = plainReason((error as Error).message)
      return { ...data, problem: `This drive does not answer (process ${pid}): ${why}` }
    }
  }

  /** Never rejects. */
  async #shown(id: string, socketPath: string): Promise<ShownFormer | undefined> {
    const path = this.#shownPaths.get(id)
    if (path === undefined) return undefined
    try {
      const limit = { signal: AbortSignal.timeout(limitMs) }
      const answer = await this.#cachedFor(`former ${id} ${path}`, formerForMs, () =>
        ask(socketPath, 'former', { path }, limit),
      )
      return { path, ...answer }
    } catch (error) {
      return { path, former: [], isOn: true, problem: plainReason((error as Error).message) }
    }
  }

  async #cachedFor<T>(name: string, forMs: number, load: () => Promise<T>): Promise<T> {
    const known = this.#cached.get(name)
    if (known !== undefined && performance.now() - known.atMs < forMs) return known.value as T
    const value = await load()
    this.#cached.set(name, { atMs: performance.now(), value })
    return value
  }
}

/** A drive of another home folder belongs to another page. */
function isOnPage(found: FoundMount): boolean {
  return isOwn(found) && !found.isOfOtherHome
}

/** Resolves with the drive that a form names. */
export async function findById(id: string): Promise<FoundMount | undefined> {
  return (await findMounts()).find((found) => isOnPage(found) && idOf(found) === id)
}

export function idOf({ record, mountpoint }: FoundMount): string {
  return createHash('sha256')
    .update(`${record?.id ?? ''} ${mountpoint}`)
    .digest('hex')
    .slice(0, 12)
}

/** Never rejects: without the service the rest of the drive is shown. */
async function tablesOf(socketPath: string): Promise<Pick<DriveData, 'tables' | 'tablesProblem'>> {
  try {
    const limit = { signal: AbortSignal.timeout(limitMs) }
    return { tables: await ask(socketPath, 'tables', {}, limit), tablesProblem: undefined }
  } catch (error) {
    return { tables: undefined, tablesProblem: plainReason((error as Error).message) }
  }
}

/** Resolves with the latest changes, oldest first; none without a file. */
async function latestActivity(id: string): Promise<readonly Activity[]> {
  const file = activityFile(id)
  const tailOf = (path: string): Promise<readonly string[]> =>
    lastLines(path, { mostBytes: tailBytes, mostLines: tailLines }).catch(() => [])
  const lines = await tailOf(file)
  const older = lines.length < tailLines ? await tailOf(`${file}.1`) : []
  const all = [...older, ...lines].flatMap((line) => parseActivity(line) ?? [])
  return withoutCounted(all).slice(-shownChanges)
}
