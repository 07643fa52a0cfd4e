// Programs that save many documents, one after another: the wait of one save overlaps with the next document.
//
//   strict ──(four saves in a row that went well)──► overlapping ──(a rest, or anything that goes wrong)──► strict
//
// A save ends with a close, or with the rename of a temporary file. Strict: it waits for the service. Overlapping: it waits
// until its document is on disk here, and fewer than eight of the program's, and 64 MiB, are under way. A refusal meanwhile is
// the error of the program's next close: a rename that fails must not have happened.

import { abortable } from '../../abortable.ts'
import type { Job } from '../../content/commit/job.ts'
import type { Clock, Timer } from '../../world/clock.ts'
import type { Caller } from '../operations.ts'

/** So many saves in a row are no person's. */
const mostStrict = 4
/** Between two saves: a program that rests longer is not saving many. */
const longestRestMs = 1_000
const mostUnderWay = 8
const mostBytesUnderWay = 64 * 1024 * 1024
/** Programs remembered at once; those with nothing under way are forgotten first. */
const mostPrograms = 64

export interface BurstsOptions {
  readonly clock: Clock
  /** How long a close may wait (ms); undefined: every close is strict. */
  readonly waitMs: number | undefined
  /** True while the service is there. */
  readonly isReachable: () => boolean
  /** Everything journaled so far survives a power cut. */
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

  /** Waits as this close has to; `strictly` waits for the service. Throws what either found refused. */
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

  /** The same for a rename that saves: of refusals it throws its own document's alone. */
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
      if (burst.isWell() && job.isDone) burst.wellInARow = wellInARow + 1
    } finally {
      burst.savedAt = this.#options.clock.monotonic()
    }
  }

  /** A close of which nothing is sent. Throws what was refused of the program's earlier saves. */
  closedHere(caller: Caller): void {
    const burst = this.#of(caller)
    if (burst === undefined || burst.isWell() || burst.refusal === undefined) return
    const { refusal } = burst
    burst.refusal = undefined
    burst.wellInARow = 0
    throw refusal as Error
  }

  /** True for a save that need not wait any more; false at once where it has to wait for the service. */
  async #overlaps(burst: Burst, { job, size, caller }: Save): Promise<boolean> {
    const { waitMs = 0, durable, isReachable } = this.#options
    if (burst.wellInARow < mostStrict || !isReachable()) return false
    burst.underWay.set(job, size)
    await durable()
    return this.#isSoonFew(burst, caller.signal, waitMs)
  }

  /** False as soon as anything went wrong. */
  async #isSoonFew(burst: Burst, signal: AbortSignal, waitMs: number): Promise<boolean> {
    const { clock } = this.#options
    const until = clock.monotonic() + waitMs
    for (;;) {
      if (!burst.isWell()) return false
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

  /** Waits for the jobs of earlier saves, too. */
  async #allStrictly(burst: Burst, job: Job, strictly: (job: Job) => Promise<void>): Promise<void> {
    const { durable } = this.#options
    const isWell = burst.isWell()
    const left = [...burst.underWay.keys()].filter((other) => other !== job)
    burst.underWay.clear()
    try {
      if (burst.refusal !== undefined) throw burst.refusal as Error
      await Promise.all([...left, job].map((each) => strictly(each)))
      burst.wellInARow = isWell && job.isDone ? burst.wellInARow + 1 : 0
    } catch (error) {
      burst.wellInARow = 0
      burst.refusal = undefined
      // The refusal may be another document's: its own is safe all the same.
      await durable()
      throw error
    }
  }

  /** Undefined where every save of the caller is strict. Its program is looked up only where it is needed. */
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
  /** Documents whose save did not wait to the end, with their bytes. */
  readonly underWay = new Map<Job, number>()
  refusal: unknown
  /** Strict saves that the service agreed to. */
  wellInARow = 0
  /** Monotonic ms. */
  savedAt = Number.NEGATIVE_INFINITY

  /** Looks what became of those. False where one was refused, or has to be tried again. */
  isWell(): boolean {
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
