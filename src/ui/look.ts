// Data of the page: every drive of this user by its control socket, and the end of its log. Never touches a mount.

import { createHash } from 'node:crypto'
import { type Activity, latestActivity } from '../daemon/activity.ts'
import { ask } from '../daemon/control-client.ts'
import type { MountStatus, TablesAnswer } from '../daemon/control-protocol.ts'
import { findMounts, type FoundMount, isOwn } from '../daemon/find-mount.ts'
import type { CacheStatus } from '../fs/pins/pin-status.ts'
import { logTail } from './log-tail.ts'
import { Rates } from './rates.ts'

export interface DriveSeen {
  /** For this page; the same as long as the drive is there. */
  readonly id: string
  readonly mountpoint: string
  /** Absent where no daemon answers: `problem` says why. */
  readonly status: MountStatus | undefined
  readonly problem: string | undefined
  readonly cache: CacheStatus | undefined
  readonly log: readonly string[]
  /** The latest changes, oldest first. */
  readonly activity: readonly Activity[]
  readonly tables: TablesAnswer | undefined
  /** Why there are no tables, in words. */
  readonly tablesProblem: string | undefined
  readonly rates: Rates
}

export interface Seen {
  readonly drives: readonly DriveSeen[]
  /** One text for each drive that is not mounted and has something left. */
  readonly left: readonly string[]
}

/** Wording of the command line. */
export interface Words {
  describeDead(found: FoundMount): string
  left(): Promise<readonly string[]>
}

const shownChanges = 20
const limitMs = 5_000
/** Times to live of data that changes seldom, or costs the service a call. */
const leftForMs = 10_000
const cacheForMs = 5_000
const tablesForMs = 10_000

export class Looker {
  readonly #words: Words
  readonly #rates = new Map<string, Rates>()
  readonly #kept = new Map<string, { readonly atMs: number; readonly value: unknown }>()

  constructor(words: Words) {
    this.#words = words
  }

  /** Never throws: what cannot be had is said. */
  async look(): Promise<Seen> {
    const own = (await findMounts()).filter(isOnPage)
    // Those that nobody answers for come last.
    const sorted = own.toSorted((a, b) => Number(b.isDaemonAlive) - Number(a.isDaemonAlive))
    const drives = await Promise.all(sorted.map((found) => this.#drive(found)))
    const ids = new Set(drives.map(({ id }) => id))
    for (const id of this.#rates.keys()) if (!ids.has(id)) this.#rates.delete(id)
    const left = await this.#keptFor('left', leftForMs, () => this.#words.left()).catch((error: unknown) => [
      (error as Error).message,
    ])
    return { drives, left }
  }

  /** Makes the next look ask everything: somebody has just done something. */
  forget(): void {
    this.#kept.clear()
  }

  async #drive(found: FoundMount): Promise<DriveSeen> {
    const id = idOf(found)
    const { mountpoint, record, isDaemonAlive } = found
    const rates = this.#rates.get(id) ?? new Rates()
    this.#rates.set(id, rates)
    const log = await logTail(record?.logFile)
    const activity = record === undefined ? [] : await latestActivity(record.id, shownChanges)
    const seen = {
      id, mountpoint, log, activity, rates,
      status: undefined, problem: undefined, cache: undefined, tables: undefined, tablesProblem: undefined,
    } // prettier-ignore
    if (record === undefined || !isDaemonAlive) return { ...seen, problem: this.#words.describeDead(found) }
    const { socketPath, pid } = record
    const limit = { signal: AbortSignal.timeout(limitMs) }
    try {
      const { mount: status } = await ask(socketPath, 'status', {}, limit)
      rates.note(status.unsent, performance.now())
      const [cache, tables] = await Promise.all([
        this.#keptFor(`cache ${id}`, cacheForMs, () => ask(socketPath, 'cache', {}, limit)).catch(
          () => undefined,
        ),
        this.#keptFor(`tables ${id}`, tablesForMs, () => tablesOf(socketPath)),
      ])
      return { ...seen, status, cache, ...tables }
    } catch (error) {
      const why = (error as Error).message
      return { ...seen, problem: `the daemon of ${mountpoint} (process ${pid}) does not answer: ${why}` }
    }
  }

  async #keptFor<T>(name: string, forMs: number, load: () => Promise<T>): Promise<T> {
    const known = this.#kept.get(name)
    if (known !== undefined && performance.now() - known.atMs < forMs) return known.value as T
    const value = await load()
    this.#kept.set(name, { atMs: performance.now(), value })
    return value
  }
}

/** One of another home folder is another page's: what a form does is meant for a drive of this one. */
function isOnPage(found: FoundMount): boolean {
  return isOwn(found) && !found.isOfOtherHome
}

/** The drive a form means. */
export async function findById(id: string): Promise<FoundMount | undefined> {
  return (await findMounts()).find((found) => isOnPage(found) && idOf(found) === id)
}

function idOf({ record, mountpoint }: FoundMount): string {
  return createHash('sha256')
    .update(`${record?.id ?? ''} ${mountpoint}`)
    .digest('hex')
    .slice(0, 12)
}

/** A service that does not answer is no reason to show nothing of the drive. */
async function tablesOf(socketPath: string): Promise<Pick<DriveSeen, 'tables' | 'tablesProblem'>> {
  try {
    const limit = { signal: AbortSignal.timeout(limitMs) }
    return { tables: await ask(socketPath, 'tables', {}, limit), tablesProblem: undefined }
  } catch (error) {
    return { tables: undefined, tablesProblem: (error as Error).message }
  }
}
