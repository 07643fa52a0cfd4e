// Pace of the disk: tells whether it is read on the thread that serves everybody. A read whose bytes are at hand is
// over sooner than the thread pool would have begun it; one that waits for a head to move, or for a network behind
// the disk, holds everybody up. How many of the last ones did tells which: a busy processor makes one of them late, a
// slow disk nearly all. A pure state machine: no I/O.

/** A read that takes longer had to wait. */
const lateMs = 4
/** So many late ones, less one for every four that were not, and the thread pool reads. */
const limit = 4
const forgiven = 1 / 4
/** For how long: a slow disk holds everybody up for `limit` reads in this time, and no more. */
const restMs = 1_000

export class ReadPace {
  #late = 0
  #restUntilMs = Number.NEGATIVE_INFINITY

  /** True while reads may be made on this thread. `nowMs`: of a monotonic clock. */
  isQuick(nowMs: number): boolean {
    return nowMs >= this.#restUntilMs
  }

  /** A read on this thread began and ended. */
  took(fromMs: number, toMs: number): void {
    this.#late = Math.max(0, this.#late + (toMs - fromMs > lateMs ? 1 : -forgiven))
    if (this.#late < limit) return
    this.#late = 0
    this.#restUntilMs = toMs + restMs
  }
}
