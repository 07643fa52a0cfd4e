// File sizes that the kernel has cached. It reads no further than the cached size, so a file that is found to be longer at `open`
// would end too early for its reader. Therefore the open waits until the cached size expires (at most 1 s, and rare).

import { setTimeout as sleep } from 'node:timers/promises'

import { kernelTtlMs } from './options.ts'

const capacity = 1000
/** Added to the cache lifetime: the kernel counts it from when the answer arrives, in steps of up to 10 ms. */
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

  /** Call it after a write or truncate, by which the kernel has changed its cached size itself. */
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
