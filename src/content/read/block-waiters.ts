// Waiting reads, by the blocks they wait for. Knows nothing of the blocks' origin.

import type { Timers } from '../../world/clock.ts'
import type { Block } from '../block.ts'
import { type Borrowed, borrow } from '../block-uses.ts'
import type { BlockRun } from '../extent.ts'

export interface WaitOptions {
  readonly signal: AbortSignal
  /** Returns a block that is in memory already, borrowed. */
  peek(block: number): Block | undefined
  /** Called every `checkMs` with a block still missing: an error that it returns ends the wait. */
  check(block: number): Error | undefined
  readonly checkMs: number
  /** Borrows each block when it comes, perhaps long before the last one. */
  readonly borrowed: Borrowed | undefined
  /** Called when the wait was ended by the signal or by `check`. */
  onLeave(): void
}

interface Waiter {
  give(block: number, bytes: Block): void
  fail(error: unknown): void
}

export class BlockWaiters {
  readonly #timers: Timers
  readonly #waiters = new Map<number, Waiter[]>()

  constructor(timers: Timers) {
    this.#timers = timers
  }

  /** Resolves when all blocks of the run were given. Rejects with the signal's reason, or the error of `check` or `fail`. */
  wait(run: BlockRun, options: WaitOptions): Promise<Block[]> {
    const { signal } = options
    return new Promise<Block[]>((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error)
      const blocks: Block[] = []
      const missing = new Set<number>()
      const stop = (): void => {
        this.#timers.clear(timer)
        signal.removeEventListener('abort', giveUp)
      }
      const waiter: Waiter = {
        give(block, bytes) {
          borrow(bytes, options.borrowed)
          blocks[block - run.first] = bytes
          missing.delete(block)
          if (missing.size > 0) return
          stop()
          resolve(blocks)
        },
        fail: (error) => {
          stop()
          for (const block of missing) this.#remove(block, waiter)
          reject(error)
        },
      }
      const leave = (error: unknown): void => {
        waiter.fail(error)
        options.onLeave()
      }
      const giveUp = (): void => leave(signal.reason)
      const timer = this.#timers.setInterval(() => {
        const [first] = missing
        const error = first === undefined ? undefined : options.check(first)
        if (error !== undefined) leave(error)
      }, options.checkMs)
      signal.addEventListener('abort', giveUp, { once: true })
      for (let block = run.first; block < run.end; block++) {
        const bytes = options.peek(block)
        if (bytes === undefined) {
          missing.add(block)
          this.#add(block, waiter)
        } else {
          blocks[block - run.first] = bytes
        }
      }
    })
  }

  /** Gives an arrived block to all reads that wait for it. */
  give(block: number, bytes: Block): void {
    for (const waiter of this.#take(block)) waiter.give(block, bytes)
  }

  /** Fails all reads that wait for a block for which `isHopeless` is true. */
  fail(isHopeless: (block: number) => boolean, error: unknown): void {
    for (const block of this.#waiters.keys()) {
      if (isHopeless(block)) for (const waiter of this.#take(block)) waiter.fail(error)
    }
  }

  /** True where a read waits for a block that matches. */
  some(matches: (block: number) => boolean): boolean {
    for (const block of this.#waiters.keys()) if (matches(block)) return true
    return false
  }

  #add(block: number, waiter: Waiter): void {
    const others = this.#waiters.get(block)
    if (others === undefined) this.#waiters.set(block, [waiter])
    else others.push(waiter)
  }

  #take(block: number): readonly Waiter[] {
    const waiters = this.#waiters.get(block)
    if (waiters === undefined) return []
    this.#waiters.delete(block)
    return waiters
  }

  #remove(block: number, waiter: Waiter): void {
    const left = this.#waiters.get(block)?.filter((other) => other !== waiter) ?? []
    if (left.length > 0) this.#waiters.set(block, left)
    else this.#waiters.delete(block)
  }
}
