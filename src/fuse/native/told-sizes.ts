// The size the kernel was last told for a file and still believes. It reads no further than that, so a file that turns out
// at open to be longer would be cut short: the open waits until the kernel has to ask again (at most 1 s, and rare).

import { setTimeout as sleep } from 'node:timers/promises'

import { kernelTtlMs } from './options.ts'

const capacity = 1000
/** The kernel counts from when the answer reached it, in steps of up to 10 ms. */
const marginMs = 50

export class ToldSizes {
  /** In order of telling, oldest first. */
  readonly #told = new Map<number, { size: number; untilMs: number }>()

  tell(ino: number, size: number): void {
    this.#told.delete(ino)
    this.#told.set(ino, { size, untilMs: performance.now() + kernelTtlMs + marginMs })
    if (this.#told.size > capacity) {
      for (const oldest of this.#told.keys()) {
        this.#told.delete(oldest)
        break
      }
    }
  }

  /** The kernel changed the size itself: it wrote or truncated. */
  forget(ino: number): void {
    this.#told.delete(ino)
  }

  /** Resolves when the kernel does not believe in another size. */
  async catchUp(ino: number, size: number): Promise<void> {
    const told = this.#told.get(ino)
    if (told === undefined || told.size === size) return
    const leftMs = told.untilMs - performance.now()
    if (leftMs > 0) await sleep(leftMs)
  }
}
