// Work on a folder, one piece after another, behind whoever asked for it. A disk that refuses is reported once, and then
// left alone for a while. Knows nothing of what the work is.

import type { Log } from '../../log.ts'

/** A disk that refuses is left alone for this long. */
const pauseMs = 30_000

export interface SerialQueueOptions {
  /** For the log. */
  readonly dir: string
  readonly log: Log
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
}

export class SerialQueue {
  readonly #options: SerialQueueOptions
  #pausedUntilMs = Number.NEGATIVE_INFINITY
  #hasWarned = false
  #tail: Promise<void> = Promise.resolve()

  constructor(options: SerialQueueOptions) {
    this.#options = options
  }

  /** True while the disk is left alone. */
  get isPaused(): boolean {
    return this.#options.now() < this.#pausedUntilMs
  }

  /** Resolves when the work was done, or failed, which is logged. */
  run(what: string, work: () => Promise<void>): Promise<void> {
    this.#tail = this.#tail.then(work).catch((error: unknown) => this.#failed(what, error))
    return this.#tail
  }

  /** Resolves when everything asked for so far is over. */
  over(): Promise<void> {
    return this.#tail
  }

  #failed(what: string, error: unknown): void {
    const { dir, log, now } = this.#options
    this.#pausedUntilMs = now() + pauseMs
    const fields = { dir, error: String(error) }
    if (this.#hasWarned) log.debug(fields, `cannot ${what}`)
    else log.warn(fields, `cannot ${what}: reading goes on without the disk cache`)
    this.#hasWarned = true
  }
}
