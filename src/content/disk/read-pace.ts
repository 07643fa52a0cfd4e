// Pace of the disk: decides whether it may be read synchronously, on the main thread. A read from the page cache is over before
// the thread pool would have begun it; one that waits for the disk's head, or for a network behind the disk, holds up the whole
// drive. The number of late reads tells which it is: a busy processor makes one of them late, a slow disk nearly all. A pure
// state machine: no I/O.

/** A read that takes longer had to wait for the disk (ms). */
const lateMs = 4
/** Number of late reads, less one for every four others, after which the thread pool reads. */
const limit = 4
const forgiven = 1 / 4
/** Time for which the thread pool reads then (ms): a slow disk holds the drive up for at most `limit` reads in this time. */
const restMs = 1_000

export class ReadPace {
  #late = 0
  #restUntilMs = Number.NEGATIVE_INFINITY

  /** True while reads may be made on this thread. `nowMs`: of a monotonic clock. */
  isQuick(nowMs: number): boolean {
    return nowMs >= this.#restUntilMs
  }

  /** Notes when a read on this thread began and ended. */
  took(fromMs: number, toMs: number): void {
    this.#late = Math.max(0, this.#late + (toMs - fromMs > lateMs ? 1 : -forgiven))
    if (this.#late < limit) return
    this.#late = 0
    this.#restUntilMs = toMs + restMs
  }
}
