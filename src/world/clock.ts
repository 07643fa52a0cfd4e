// Three clocks and the timers of a drive. `wall` is the time of day, `monotonic` measures time while the machine is awake, and
// `steady` measures the age of cached data, sleep included. All code takes them from `World`, so that a test can control time.

/** `unref`: the timer does not keep the process alive. `refresh`: its time starts again (not for `setImmediate`). */
export interface Timer {
  unref(): Timer
  refresh(): Timer
}

/** Node's timers. Times in milliseconds. */
export interface Timers {
  setTimeout(run: () => void, ms: number): Timer
  setInterval(run: () => void, ms: number): Timer
  /** Runs after everything that is due now. */
  setImmediate(run: () => void): Timer
  /** Cancels a timer of any kind. Does nothing for undefined, or a timer that has fired. */
  clear(timer: Timer | undefined): void
}

export interface Clock extends Timers {
  /** Milliseconds since 1970: for mtimes, names, and all times that outlive the process. Jumps when the clock is set. */
  readonly wall: () => number
  /**
   * Milliseconds for the age of cached data: starts at wall time and never decreases. It follows the wall clock forwards (after
   * sleep, cached data is old), but not backwards.
   */
  readonly steady: () => number
  /** Milliseconds that this machine was awake, from an arbitrary start: for durations. Setting the clock does not change it. */
  readonly monotonic: () => number
}

/** A wall clock that deviates this much from the monotonic one was set, or the machine slept; less is drift. */
const jumpMs = 1_000

/** Returns a clock whose `steady` starts now. Tests pass clocks and timers of their own. */
export function createClock(
  wall: () => number = Date.now,
  monotonic: () => number = () => performance.now(),
  timers: Timers = nodeTimers,
): Clock {
  /** Wall time minus monotonic time, at the last call. */
  let wallOffset = wall() - monotonic()
  /** Steady time minus monotonic time: the first `wallOffset`, plus all jumps ahead since. */
  let steadyOffset = wallOffset
  const steady = (): number => {
    const now = monotonic()
    const jump = wall() - now - wallOffset
    if (Math.abs(jump) > jumpMs) {
      wallOffset += jump
      if (jump > 0) steadyOffset += jump
    }
    return now + steadyOffset
  }
  return { ...timers, wall, steady, monotonic }
}

const nodeTimers: Timers = {
  setTimeout: (run, ms) => setTimeout(run, ms),
  setInterval: (run, ms) => setInterval(run, ms),
  setImmediate: (run) => new ImmediateTimer(run),
  clear(timer) {
    if (timer instanceof ImmediateTimer) timer.clear()
    // clearTimeout clears intervals, too.
    else clearTimeout(timer as NodeJS.Timeout | undefined)
  },
}

/** Node's Immediate as a Timer: it has no `refresh`, because it has no time. */
class ImmediateTimer implements Timer {
  readonly #immediate: NodeJS.Immediate

  constructor(run: () => void) {
    this.#immediate = setImmediate(run)
  }

  unref(): Timer {
    this.#immediate.unref()
    return this
  }

  refresh(): Timer {
    return this
  }

  clear(): void {
    clearImmediate(this.#immediate)
  }
}

/** Resolves after `ms`; rejects with the signal's reason when that aborts. `idle`: does not keep the process alive. */
export function sleep(
  timers: Timers,
  ms: number,
  { signal, idle = false }: { signal?: AbortSignal; idle?: boolean } = {},
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason as Error)
    const abort = (): void => {
      timers.clear(timer)
      reject(signal?.reason as Error)
    }
    const timer = timers.setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    if (idle) timer.unref()
    signal?.addEventListener('abort', abort, { once: true })
  })
}

/** Returns a signal that aborts after `ms` with a TimeoutError, as `AbortSignal.timeout`. Does not keep the process alive. */
export function abortAfter(timers: Timers, ms: number): AbortSignal {
  const controller = new AbortController()
  const abort = (): void => controller.abort(new DOMException('it took too long', 'TimeoutError'))
  timers.setTimeout(abort, ms).unref()
  return controller.signal
}
