// Bursts: many changes of one kind, one soon after another. The first are written down at once, all together as one line when it is
// over, so that neither a kill loses an ordinary change nor 10,000 deletes push everything else out.

import type { Change } from '../fs/change.ts'
import { folderOf, isAtOrUnder } from '../path.ts'

/** A change, and when the drive heard of it (ISO time); with `count`, a burst. */
export interface Activity extends Change {
  readonly at: string
  /** So many changes, all of them below `path`. */
  readonly count?: number
  /** ISO time of the first of them. */
  readonly since?: string
}

type Sum = Activity & { readonly count: number; readonly since: string }

/** So many changes are no burst yet. */
const linesEach = 10
/** It is over after so long without a change of its kind, or as long a time altogether. */
const quietMs = 2_000
const longestMs = 60_000

interface Burst {
  sum: Sum
  readonly quiet: NodeJS.Timeout
  readonly longest: NodeJS.Timeout
}

export interface ActivityBurstsOptions {
  readonly write: (activity: Activity) => void
  /** Told of each burst when it is over. */
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

/** The changes, without those that a later burst counts. */
export function withoutCounted(all: readonly Activity[]): Activity[] {
  const sums = all.filter((each): each is Sum => each.count !== undefined)
  return all.filter(
    ({ kind, at, count }) =>
      count !== undefined || !sums.some((sum) => sum.kind === kind && sum.since <= at && at <= sum.at),
  )
}

function sumOf({ kind, at, path, from, bytes, reason }: Activity): Sum {
  return {
    kind, at, since: at, count: 1, path: folderOf(path),
    ...(from === undefined ? {} : { from: folderOf(from) }),
    ...(bytes === undefined ? {} : { bytes }),
    ...(reason === undefined ? {} : { reason }),
  } // prettier-ignore
}

function joined(sum: Sum, next: Sum): Sum {
  return {
    ...next,
    since: sum.since,
    count: sum.count + next.count,
    path: sharedFolder(sum.path, next.path),
    ...(sum.from === undefined || next.from === undefined ? {} : { from: sharedFolder(sum.from, next.from) }),
    ...(sum.bytes === undefined || next.bytes === undefined ? {} : { bytes: sum.bytes + next.bytes }),
  }
}

function sharedFolder(one: string, other: string): string {
  let folder = one
  while (!isAtOrUnder(other, folder)) folder = folderOf(folder)
  return folder
}
