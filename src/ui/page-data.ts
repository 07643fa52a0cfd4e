// The data of the page: the state of each drive of this user, read from its control socket, and the end of its log. Never
// touches a mount.

import { createHash } from 'node:crypto'
import { activityFile, parseActivity } from '../daemon/activity.ts'
import { type Activity, withoutCounted } from '../daemon/activity-bursts.ts'
import { ask } from '../daemon/control-client.ts'
import type { MountStatus, TablesAnswer } from '../daemon/control-protocol.ts'
import { findMounts, type FoundMount, isOwn } from '../daemon/find-mount.ts'
import type { CacheStatus } from '../fs/pins/pin-status.ts'
import { lastLines, logTail } from './log-tail.ts'
import { Rates } from './rates.ts'

export interface DriveData {
  /** Id of the drive on the page; it stays the same. */
  readonly id: string
  readonly mountpoint: string
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
}

export interface PageData {
  readonly drives: readonly DriveData[]
  /** One text for each drive that is not mounted and has unsent or lost content. */
  readonly left: readonly string[]
}

/** Texts that the command line and the page share. */
export interface CliTexts {
  describeDead(found: FoundMount): string
  left(): Promise<readonly string[]>
}

const shownChanges = 20
/** Read of the activity: a burst may count a dozen lines before its own. Twenty fit also where paths are as long as they may be. */
const tailLines = 12 * shownChanges
const tailBytes = 128 * 1024
const limitMs = 5_000
/** Lifetimes of cached data that changes rarely, or costs a call to the service. */
const leftForMs = 10_000
const cacheForMs = 5_000
const tablesForMs = 10_000

export class PageDataReader {
  readonly #texts: CliTexts
  readonly #rates = new Map<string, Rates>()
  readonly #cached = new Map<string, { readonly atMs: number; readonly value: unknown }>()

  constructor(texts: CliTexts) {
    this.#texts = texts
  }

  /** Never throws: errors are part of the data. */
  async read(): Promise<PageData> {
    const own = (await findMounts()).filter(isOnPage)
    // Drives without a daemon come last.
    const sorted = own.toSorted((a, b) => Number(b.isDaemonAlive) - Number(a.isDaemonAlive))
    const drives = await Promise.all(sorted.map((found) => this.#drive(found)))
    const ids = new Set(drives.map(({ id }) => id))
    for (const id of this.#rates.keys()) if (!ids.has(id)) this.#rates.delete(id)
    const left = await this.#cachedFor('left', leftForMs, () => this.#texts.left()).catch(
      (error: unknown) => [(error as Error).message],
    )
    return { drives, left }
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
    const log = await logTail(record?.logFile)
    const activity = record === undefined ? [] : await latestActivity(record.id)
    const data = {
      id, mountpoint, log, activity, rates,
      status: undefined, problem: undefined, cache: undefined, tables: undefined, tablesProblem: undefined,
    } // prettier-ignore
    if (record === undefined || !isDaemonAlive) return { ...data, problem: this.#texts.describeDead(found) }
    const { socketPath, pid } = record
    const limit = { signal: AbortSignal.timeout(limitMs) }
    try {
      const { mount: status } = await ask(socketPath, 'status', {}, limit)
      rates.add(status.unsent, performance.now())
      const [cache, tables] = await Promise.all([
        this.#cachedFor(`cache ${id}`, cacheForMs, () => ask(socketPath, 'cache', {}, limit)).catch(
          () => undefined,
        ),
        this.#cachedFor(`tables ${id}`, tablesForMs, () => tablesOf(socketPath)),
      ])
      return { ...data, status, cache, ...tables }
    } catch (error) {
      const why = (error as Error).message
      return { ...data, problem: `the daemon of ${mountpoint} (process ${pid}) does not answer: ${why}` }
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

function idOf({ record, mountpoint }: FoundMount): string {
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
    return { tables: undefined, tablesProblem: (error as Error).message }
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
