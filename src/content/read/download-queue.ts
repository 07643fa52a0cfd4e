// Who may use the network now. Foreground downloads have slots that nothing else can take; read-ahead and prefetch share
// the others, read-ahead first. Knows nothing of documents.

import PQueue from 'p-queue'

/**
 * - `foreground`: somebody waits for it.
 * - `read-ahead`: a sequential reader will come to it.
 * - `prefetch`: a neighbour of what was read.
 * - `rest`: the rest of a document that is read here and there.
 */
export type Urgency = 'foreground' | 'read-ahead' | 'prefetch' | 'rest'

/** Together fewer than the client's connections per host. */
const foregroundSlots = 12
const backgroundSlots = 16
const priorityOf = { 'read-ahead': 2, prefetch: 1, rest: 0 } as const

export class DownloadQueue {
  readonly #foreground = new PQueue({ concurrency: foregroundSlots })
  readonly #background = new PQueue({ concurrency: backgroundSlots })

  /** Runs the task when a slot is free. */
  run(urgency: Urgency, task: () => Promise<void>): Promise<void> {
    if (urgency === 'foreground') return this.#foreground.add(task)
    return this.#background.add(task, { priority: priorityOf[urgency] })
  }

  /** Downloads that wait for a background slot. */
  get backgroundBacklog(): number {
    return this.#background.size
  }
}
