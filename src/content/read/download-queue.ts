// Slots for downloads. Foreground downloads have slots of their own; read-ahead, prefetch and rest share the others, in this
// order. A fetch that no reader waits for (a pin, what a save replaces) runs only while none of these needs the network.

import { sleep, type Clock } from '../../world/clock.ts'
import PQueue from 'p-queue'

/**
 * - `foreground`: a reader waits for it.
 * - `read-ahead`: a sequential reader will need it.
 * - `prefetch`: the start of a neighbour of a document that was read.
 * - `rest`: the rest of a document that is read here and there.
 */
export type Urgency = 'foreground' | 'read-ahead' | 'prefetch' | 'rest'

/** Slots; together fewer than the client's connections per host. */
const foregroundSlots = 12
const backgroundSlots = 16
const quietSlots = 4
/** Pause without downloads after which readers count as done (ms): between two documents they pause, too. */
const quietAfterMs = 100
const priorityOf = { 'read-ahead': 2, prefetch: 1, rest: 0 } as const

export class DownloadQueue {
  readonly #foreground = new PQueue({ concurrency: foregroundSlots })
  readonly #background = new PQueue({ concurrency: backgroundSlots })
  readonly #quiet = new PQueue({ concurrency: quietSlots })
  readonly #clock: Clock
  #busyAtMs = Number.NEGATIVE_INFINITY

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Runs the task when a slot is free. */
  async run(urgency: Urgency, task: () => Promise<void>): Promise<void> {
    try {
      await this.#add(urgency, task)
    } finally {
      this.#busyAtMs = this.#clock.monotonic()
    }
  }

  #add(urgency: Urgency, task: () => Promise<void>): Promise<void> {
    if (urgency === 'foreground') return this.#foreground.add(task)
    return this.#background.add(task, { priority: priorityOf[urgency] })
  }

  /** Runs the task when no reader needs the network. While it runs, it must itself await `quiet` whenever `isBusy`. */
  runQuietly(task: () => Promise<void>): Promise<void> {
    return this.#quiet.add(async () => {
      await this.quiet()
      await task()
    })
  }

  /** True while a reader downloads, or did a moment ago. */
  get isBusy(): boolean {
    return this.#busyAtMs + quietAfterMs > this.#clock.monotonic() || this.#hasReaders
  }

  /** Resolves when no reader needs the network, or after `ms`. */
  async quiet(ms: number = Infinity): Promise<void> {
    const until = this.#clock.monotonic() + ms
    while (this.isBusy && this.#clock.monotonic() < until) {
      await sleep(this.#clock, quietAfterMs, { idle: true })
    }
  }

  get #hasReaders(): boolean {
    return [this.#foreground, this.#background].some(({ pending, size }) => pending + size > 0)
  }

  /** Number of downloads that wait for a background slot. */
  get backgroundBacklog(): number {
    return this.#background.size
  }
}
