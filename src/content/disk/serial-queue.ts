// A queue for work on a folder, done one task after another in the background. A failing disk is logged once, and then left
// alone for a while. Knows nothing of the tasks.

import type { Log } from '../../log.ts'

/** Time for which a failing disk is left alone (ms). */
const pauseMs = 30_000

export interface SerialQueueOptions {
  /** The folder, named in the log. */
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

  /** True while the disk is left alone after a failure. */
  get isPaused(): boolean {
    return this.#options.now() < this.#pausedUntilMs
  }

  /** Does the work after all earlier work. Resolves when it is over; failures are only logged, as "cannot `task`". */
  run(task: string, work: () => Promise<void>): Promise<void> {
    this.#tail = this.#tail.then(work).catch((error: unknown) => this.#failed(task, error))
    return this.#tail
  }

  /** Resolves when all work queued so far is over. */
  over(): Promise<void> {
    return this.#tail
  }

  #failed(task: string, error: unknown): void {
    const { dir, log, now } = this.#options
    this.#pausedUntilMs = now() + pauseMs
    const fields = { dir, error: String(error) }
    if (this.#hasWarned) log.debug(fields, `cannot ${task}`)
    else log.warn(fields, `cannot ${task}: reading goes on without the disk cache`)
    this.#hasWarned = true
  }
}
