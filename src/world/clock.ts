// Wall clock, steady clock and timers: the first is people's, who set it; the second is not, and a machine that slept
// finds the wall far ahead; the third no module decides alone.

/** `unref`: it holds no process up. `refresh`: its time starts anew. */
export interface Timer {
  unref(): Timer
  refresh(): Timer
}

/** Named as Node names them. Milliseconds. */
export interface Timers {
  setTimeout(run: () => void, ms: number): Timer
  setInterval(run: () => void, ms: number): Timer
  /** When everything that is due now has had its turn. */
  setImmediate(run: () => void): Timer
  /** Ends any of the three; nothing where there is none, or it is over. */
  clear(timer: Timer | undefined): void
}

export interface Clock extends Timers {
  /** Milliseconds since 1970, as people read them: for mtimes, names, and whatever outlives the process. May step either way. */
  readonly wall: () => number
  /**
   * Milliseconds for measuring: begins at wall time and only grows. It keeps up with a wall clock that jumps ahead (the
   * machine slept: what was fetched before is old), and does not follow one that is set back.
   */
  readonly steady: () => number
  /** Milliseconds this machine was awake, from any beginning: nothing but the going by of time moves it. */
  readonly monotonic: () => number
}

/** A wall clock this far off the monotonic one has been set, or the machine slept; less is drift. */
const jumpMs = 1_000

/** Counts from now. */
export function createClock(
  wall: () => number = Date.now,
  monotonic: () => number = () => performance.now(),
  timers: Timers = nodeTimers,
): Clock {
  /** Wall time minus monotonic time, as last seen. */
  let apart = wall() - monotonic()
  let ahead = apart
  const steady = (): number => {
    const now = monotonic()
    const jump = wall() - now - apart
    if (Math.abs(jump) > jumpMs) {
      apart += jump
      if (jump > 0) ahead += jump
    }
    return now + ahead
  }
  return { ...timers, wall, steady, monotonic }
}

const nodeTimers: Timers = {
  setTimeout: (run, ms) => setTimeout(run, ms),
  setInterval: (run, ms) => setInterval(run, ms),
  setImmediate: (run) => new Soon(run),
  clear(timer) {
    if (timer instanceof Soon) timer.clear()
    // Node clears either kind with either call.
    else clearTimeout(timer as NodeJS.Timeout | undefined)
  },
}

class Soon implements Timer {
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

/** Resolves after so long; rejects with the signal's reason. Holds no process up where it is `idle`. */
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

/** Aborts after so long with a TimeoutError, as `AbortSignal.timeout` does. Holds no process up. */
export function abortAfter(timers: Timers, ms: number): AbortSignal {
  const controller = new AbortController()
  const abort = (): void => controller.abort(new DOMException('it took too long', 'TimeoutError'))
  timers.setTimeout(abort, ms).unref()
  return controller.signal
}
