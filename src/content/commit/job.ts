// Jobs of the commit queue, and how to wait for one.

import type { Timer, Timers } from '../../world/clock.ts'
import { abortable } from '../../abortable.ts'
import type { Intention } from '../intention.ts'

/** One intention in the commit queue, with its run-time state. */
export class Job {
  readonly intention: Intention
  /** Aborts the attempt under way; undefined while there is none. */
  controller: AbortController | undefined
  /** Its content is being written: it waits for the next submit. */
  isHeld = false
  /** Its last attempt found no service, or the queue is paused. */
  isUnreachable = false
  /** It is refused, and a newer job needs a folder in place of its source, or changes the folder that it was to remove. */
  blocksFolder = false
  /** It is a refused move, and another document is listed at its source. */
  isSourceReplaced = false
  /** Not before this time (ms of the steady clock). */
  dueAt = 0
  /** It waits before its first attempt: a quiet time, or a grace (`deferMs`). */
  isDeferred = false
  /** The job that took this one's place. */
  successor: Job | undefined
  isDone = false
  error: unknown
  /** Time of its first attempt in this run (ms, steady clock). */
  firstTriedAt: number | undefined
  readonly #waiters = new Set<() => void>()

  constructor(intention: Intention) {
    this.intention = intention
  }

  get isRunning(): boolean {
    return this.controller !== undefined
  }

  /** Not under way: it may still be changed, replaced or taken back. */
  get isIdle(): boolean {
    return !this.isRunning && !this.isDone
  }

  /** Ends its wait for the next attempt. */
  runNow(): void {
    this.isDeferred = false
    this.dueAt = 0
    this.intention.notBefore = 0
  }

  /** Resolves at the next change of state. */
  changed(): Promise<void> {
    return new Promise((resolve) => this.#waiters.add(resolve))
  }

  /** Wakes the calls of `changed`. */
  announce(): void {
    const waiters = [...this.#waiters]
    this.#waiters.clear()
    for (const resolve of waiters) resolve()
  }
}

export interface WaitOptions {
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
  /** Return as soon as the service turns out to be out of reach. */
  readonly untilUnreachable?: boolean
  /** Return as soon as its content is being written again: it goes on only when that is closed. */
  readonly untilHeld?: boolean
}

/**
 * Waits until the job (or its successor) is done, met an unreachable service or was held (both only where asked), or
 * `timeoutMs` passed. Rejects with the service's refusal, or with the signal's reason. The job goes on in any case.
 */
export async function waitForJob(
  timers: Timers,
  job: Job,
  options: WaitOptions,
): Promise<'done' | 'unreachable' | 'held' | 'timeout'> {
  const timeout = options.timeoutMs === Infinity ? undefined : timer(timers, options.timeoutMs)
  try {
    for (let current = job; ;) {
      while (current.successor !== undefined) current = current.successor
      if (current.isDone) return 'done'
      if (current.intention.isRefused) throw current.error
      if (current.isUnreachable && options.untilUnreachable === true) return 'unreachable'
      if (current.isHeld && !current.isRunning && options.untilHeld === true) return 'held'
      const changed = current.changed().then(() => 'changed' as const)
      const next = timeout === undefined ? changed : Promise.race([changed, timeout.passed])
      const event = await (options.signal === undefined ? next : abortable(next, options.signal))
      if (event === 'timeout') return current.isDone ? 'done' : 'timeout'
    }
  } finally {
    timeout?.cancel()
  }
}

function timer(timers: Timers, ms: number): { passed: Promise<'timeout'>; cancel: () => void } {
  let id: Timer | undefined
  const passed = new Promise<'timeout'>((resolve) => {
    id = timers.setTimeout(() => resolve('timeout'), ms)
  })
  return { passed, cancel: () => timers.clear(id) }
}
