// Programs that save many documents, one after another: the wait of one save overlaps with the next document.
//
//   strict ──(four saves in a row that went well)──► overlapping ──(a rest, or anything that goes wrong)──► strict
//
// A save ends with a close, or with the rename of a temporary file. Strict: it waits for the service. Overlapping: it waits
// until its document is on disk here, and fewer than eight of the program's saves, and 64 MiB, are under way. A refusal
// meanwhile is the error of the program's next close, not of a rename: a rename that fails must not have happened.

import { abortable } from '../../abortable.ts'
import type { Job } from '../../content/commit/job.ts'
import type { Clock, Timer } from '../../world/clock.ts'
import type { Caller } from '../operations.ts'

/** After so many strict saves in a row that went well, saves overlap: a person does not save that fast. */
const mostStrict = 4
/** Longest time between two saves of a burst. */
const longestRestMs = 1_000
const mostUnderWay = 8
const mostBytesUnderWay = 64 * 1024 * 1024
/** Programs remembered at once; those with nothing under way are forgotten first. */
const mostPrograms = 64

export interface BurstsOptions {
  readonly clock: Clock
  /** How long a close may wait (ms); undefined: every close is strict. */
  readonly waitMs: number | undefined
  /** Returns true while the service is reachable. */
  readonly isReachable: () => boolean
  /** Resolves when everything journaled so far survives a power cut. */
  readonly durable: () => Promise<void>
}

export interface Save {
  readonly caller: Caller
  readonly job: Job
  /** Bytes of its content. */
  readonly size: number
}

export class Bursts {
  readonly #options: BurstsOptions
  readonly #byProgram = new Map<string, Burst>()

  constructor(options: BurstsOptions) {
    this.#options = options
  }

  /** Waits as this close has to; `strictly` waits for the service. Throws the refusal of this save, or of an earlier one. */
  async closed(save: Save, strictly: (job: Job) => Promise<void>): Promise<void> {
    const burst = this.#of(save.caller)
    if (burst === undefined) return strictly(save.job)
    try {
      if (await this.#overlaps(burst, save)) return
      await this.#allStrictly(burst, save.job, strictly)
    } finally {
      burst.savedAt = this.#options.clock.monotonic()
    }
  }

  /** Like `closed`, for a rename that saves. Throws the refusal of its own document only. */
  async renamed(save: Save, strictly: (job: Job) => Promise<void>): Promise<void> {
    const burst = this.#of(save.caller)
    if (burst === undefined) return strictly(save.job)
    const { job } = save
    try {
      if (await this.#overlaps(burst, save)) return
      const { wellInARow } = burst
      burst.wellInARow = 0
      burst.underWay.delete(job)
      await strictly(job)
      if (burst.checkUnderWay() && job.isDone) burst.wellInARow = wellInARow + 1
    } finally {
      burst.savedAt = this.#options.clock.monotonic()
    }
  }

  /** Called for a close that sends nothing. Throws the refusal of an earlier save of the program. */
  closedHere(caller: Caller): void {
    const burst = this.#of(caller)
    if (burst === undefined || burst.checkUnderWay() || burst.refusal === undefined) return
    const { refusal } = burst
    burst.refusal = undefined
    burst.wellInARow = 0
    throw refusal as Error
  }

  /** Returns true for a save that need not wait any more; false at once if it has to wait for the service. */
  async #overlaps(burst: Burst, { job, size, caller }: Save): Promise<boolean> {
    const { waitMs = 0, durable, isReachable } = this.#options
    if (burst.wellInARow < mostStrict || !isReachable()) return false
    burst.underWay.set(job, size)
    await durable()
    return this.#waitUntilFew(burst, caller.signal, waitMs)
  }

  /** Waits until few saves are under way. Returns false as soon as one of them failed. */
  async #waitUntilFew(burst: Burst, signal: AbortSignal, waitMs: number): Promise<boolean> {
    const { clock } = this.#options
    const until = clock.monotonic() + waitMs
    for (;;) {
      if (!burst.checkUnderWay()) return false
      if (burst.isFew) return true
      const leftMs = until - clock.monotonic()
      if (leftMs <= 0) {
        burst.wellInARow = 0
        return true
      }
      let timer: Timer | undefined
      const passed = new Promise<void>((resolve) => (timer = clock.setTimeout(resolve, leftMs)))
      const changed = [...burst.underWay.keys()].map((each) => each.changed())
      await abortable(Promise.race([...changed, passed]), signal).finally(() => clock.clear(timer))
    }
  }

  /** Waits for the service to agree to this save, and to all earlier ones. */
  async #allStrictly(burst: Burst, job: Job, strictly: (job: Job) => Promise<void>): Promise<void> {
    const { durable } = this.#options
    const isWell = burst.checkUnderWay()
    const left = [...burst.underWay.keys()].filter((other) => other !== job)
    burst.underWay.clear()
    try {
      if (burst.refusal !== undefined) throw burst.refusal as Error
      await Promise.all([...left, job].map((each) => strictly(each)))
      burst.wellInARow = isWell && job.isDone ? burst.wellInARow + 1 : 0
    } catch (error) {
      burst.wellInARow = 0
      burst.refusal = undefined
      // The refusal may be another document's: this one has to be safe all the same.
      await durable()
      throw error
    }
  }

  /** Undefined if every save of the caller's program is strict. The program is looked up only if needed. */
  #of(caller: Caller): Burst | undefined {
    const { waitMs, clock } = this.#options
    const program = waitMs === undefined ? undefined : caller.program
    if (program === undefined) return undefined
    const burst = this.#byProgram.get(program) ?? new Burst()
    if (!this.#byProgram.has(program) && this.#byProgram.size >= mostPrograms) {
      const unused = [...this.#byProgram].find(([, { underWay }]) => underWay.size === 0) ?? []
      this.#byProgram.delete(unused[0] ?? '')
    }
    this.#byProgram.set(program, burst)
    if (clock.monotonic() - burst.savedAt > longestRestMs) burst.wellInARow = 0
    return burst
  }
}

class Burst {
  /** Saves that did not wait for the service, with their bytes. */
  readonly underWay = new Map<Job, number>()
  refusal: unknown
  /** Number of strict saves in a row that went well. */
  wellInARow = 0
  /** Monotonic ms. */
  savedAt = Number.NEGATIVE_INFINITY

  /** Removes the saves that are over. Returns false if one was refused, or has to be tried again. */
  checkUnderWay(): boolean {
    let isWell = this.refusal === undefined
    for (const [job] of this.underWay) {
      const last = latest(job)
      const { isRefused } = last.intention
      if (isRefused) this.refusal ??= last.error
      if (last.isDone || isRefused) this.underWay.delete(job)
      if (!last.isDone && (isRefused || last.error !== undefined || last.isUnreachable)) isWell = false
    }
    return isWell
  }

  get isFew(): boolean {
    const bytes = [...this.underWay.values()].reduce((sum, each) => sum + each, 0)
    return this.underWay.size < mostUnderWay && bytes < mostBytesUnderWay
  }
}

function latest(job: Job): Job {
  let last = job
  while (last.successor !== undefined) last = last.successor
  return last
}
