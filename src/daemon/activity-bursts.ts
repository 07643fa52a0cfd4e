// Bursts: many changes of one kind, each soon after the one before. The first 10 are written to the activity file at once, so that
// a kill loses no ordinary change. One more line sums the burst up at its end, so that 10,000 deletes do not push out other lines.

import type { Change } from '../fs/change.ts'
import { folderOf, isAtOrUnder } from '../path.ts'

/** One line of the activity file: a change, or, with `count`, the sum of a burst. */
export interface Activity extends Change {
  /** ISO time when the drive heard of the change; of a burst, of its last change. */
  readonly at: string
  /** Number of changes in the burst, all of them below `path`. */
  readonly count?: number
  /** ISO time of the burst's first change. */
  readonly since?: string
}

type Sum = Activity & { readonly count: number; readonly since: string }

/** Most changes that get a line each: with more, it is a burst. */
const linesEach = 10
/** A burst is over after this time without a change of its kind. */
const quietMs = 2_000
/** Longest burst; later changes begin another. */
const longestMs = 60_000

/** Either timer ends the burst; `quiet` is restarted by each change. */
interface Burst {
  sum: Sum
  readonly quiet: NodeJS.Timeout
  readonly longest: NodeJS.Timeout
}

export interface ActivityBurstsOptions {
  readonly write: (activity: Activity) => void
  /** Called with the sum of each burst when it is over. */
  readonly onBurst: (sum: Sum) => void
}

export class ActivityBursts {
  readonly #options: ActivityBurstsOptions
  readonly #bursts = new Map<Activity['kind'], Burst>()

  constructor(options: ActivityBurstsOptions) {
    this.#options = options
  }

  add(activity: Activity): void {
    const { kind } = activity
    let burst = this.#bursts.get(kind)
    if (burst === undefined) {
      const end = (): void => this.#end(kind)
      const timers = { quiet: setTimeout(end, quietMs).unref(), longest: setTimeout(end, longestMs).unref() }
      burst = { sum: sumOf(activity), ...timers }
      this.#bursts.set(kind, burst)
    } else {
      burst.sum = joined(burst.sum, sumOf(activity))
      burst.quiet.refresh()
    }
    if (burst.sum.count <= linesEach) this.#options.write(activity)
  }

  /** Ends all bursts. */
  close(): void {
    for (const kind of this.#bursts.keys()) this.#end(kind)
  }

  #end(kind: Activity['kind']): void {
    const burst = this.#bursts.get(kind)
    if (burst === undefined) return
    this.#bursts.delete(kind)
    clearTimeout(burst.quiet)
    clearTimeout(burst.longest)
    if (burst.sum.count <= linesEach) return
    this.#options.write(burst.sum)
    this.#options.onBurst(burst.sum)
  }
}

/** Returns the lines without the single changes that the sum of a burst counts, too. */
export function withoutCounted(all: readonly Activity[]): Activity[] {
  const sums = all.filter((activity): activity is Sum => activity.count !== undefined)
  return all.filter(
    ({ kind, at, count }) =>
      count !== undefined || !sums.some((sum) => sum.kind === kind && sum.since <= at && at <= sum.at),
  )
}

/** Returns a change as the sum of a burst of one, in the change's folder. */
function sumOf({ kind, at, path, from, bytes, reason }: Activity): Sum {
  return {
    kind, at, since: at, count: 1, path: folderOf(path),
    ...(from === undefined ? {} : { from: folderOf(from) }),
    ...(bytes === undefined ? {} : { bytes }),
    ...(reason === undefined ? {} : { reason }),
  } // prettier-ignore
}

function joined(sum: Sum, next: Sum): Sum {
  const { kind, at, reason } = next
  return {
    kind, at, since: sum.since, count: sum.count + next.count, path: sharedFolder(sum.path, next.path),
    ...(sum.from === undefined || next.from === undefined ? {} : { from: sharedFolder(sum.from, next.from) }),
    ...(sum.bytes === undefined || next.bytes === undefined ? {} : { bytes: sum.bytes + next.bytes }),
    ...(reason === undefined || reason !== sum.reason ? {} : { reason }),
  } // prettier-ignore
}

/** Returns the innermost folder that both folders are at or below. */
function sharedFolder(first: string, second: string): string {
  let folder = first
  while (!isAtOrUnder(second, folder)) folder = folderOf(folder)
  return folder
}
