// What time it is, and how long something took: two questions that one clock cannot answer. People set the wall clock, and
// a machine that slept finds it far ahead; what is measured with it stands still, or is over at once.

export interface Clock {
  /** Milliseconds since 1970, as people read them: for mtimes, names, and whatever outlives the process. May step either way. */
  readonly wall: () => number
  /**
   * Milliseconds for measuring: begins at wall time and only grows. It keeps up with a wall clock that jumps ahead (the
   * machine slept: what was fetched before is old), and does not follow one that is set back.
   */
  readonly steady: () => number
}

/** A wall clock this far off the monotonic one has been set, or the machine slept; less is drift. */
const jumpMs = 1_000

/** Counts from now. */
export function createClock(
  wall: () => number = Date.now,
  monotonic: () => number = () => performance.now(),
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
  return { wall, steady }
}
