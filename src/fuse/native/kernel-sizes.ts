// File sizes that the kernel has cached. It reads no further than that, so a file that turns out to be longer at open would be
// truncated for its reader: the open waits until the cached size expires (at most 1 s, and rare).

import { setTimeout as sleep } from 'node:timers/promises'

import { kernelTtlMs } from './options.ts'

const capacity = 1000
/** The kernel's lifetimes begin when an answer reaches it, and end in steps of up to 10 ms. */
const marginMs = 50

export class KernelSizes {
  /** Sizes by inode number, oldest answer first. */
  readonly #sizes = new Map<number, { size: number; untilMs: number }>()

  /** Records a size that was answered to the kernel. */
  set(ino: number, size: number): void {
    this.#sizes.delete(ino)
    this.#sizes.set(ino, { size, untilMs: performance.now() + kernelTtlMs + marginMs })
    if (this.#sizes.size > capacity) {
      for (const oldest of this.#sizes.keys()) {
        this.#sizes.delete(oldest)
        break
      }
    }
  }

  /** The kernel changed the size itself: it wrote or truncated. */
  forget(ino: number): void {
    this.#sizes.delete(ino)
  }

  /** Resolves when the kernel has no other size cached. */
  async catchUp(ino: number, size: number): Promise<void> {
    const cached = this.#sizes.get(ino)
    if (cached === undefined || cached.size === size) return
    const leftMs = cached.untilMs - performance.now()
    if (leftMs > 0) await sleep(leftMs)
  }
}
