// Connections that each carry one exchange at a time. The one used last is taken first, so that a sequence of requests reuses
// one connection, and idle ones expire.

import { errors } from 'undici'

/** A connection, or several in turn: it connects when it is used, and again after the connection has ended. */
export interface Lane {
  /** Resolves when the exchange under way is over; takes no other. */
  close(): Promise<void>
  /** Fails the exchange under way. */
  destroy(): Promise<void>
}

/** A request that waits for a lane. */
interface Waiter<L> {
  take(lane: L): void
  fail(reason: Error): void
}

export class LanePool<L extends Lane> {
  readonly #maxLanes: number
  readonly #connect: () => L
  /** All lanes but the retired ones. */
  #lanes = new Set<L>()
  /** Lanes that finish their requests and take no more (see `renew`). */
  readonly #retired = new Set<L>()
  #idle: L[] = []
  readonly #waiting = new Set<Waiter<L>>()
  #isClosed = false

  constructor(maxLanes: number, connect: () => L) {
    this.#maxLanes = maxLanes
    this.#connect = connect
  }

  /** Resolves with a lane that carries nothing. Rejects with the signal's reason. */
  acquire(signal: AbortSignal): Promise<L> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => waiter.fail(signal.reason as Error)
      const waiter: Waiter<L> = {
        take(lane) {
          signal.removeEventListener('abort', giveUp)
          resolve(lane)
        },
        fail: (reason) => {
          this.#waiting.delete(waiter)
          signal.removeEventListener('abort', giveUp)
          reject(reason)
        },
      }
      if (signal.aborted) giveUp()
      else if (this.#isClosed) waiter.fail(new errors.ClientDestroyedError())
      else {
        this.#serve(waiter)
        if (this.#waiting.has(waiter)) signal.addEventListener('abort', giveUp)
      }
    })
  }

  /** Called once for each lane from `acquire`. */
  giveBack(lane: L): void {
    if (!this.#lanes.has(lane)) return
    const [waiter] = this.#waiting
    if (waiter === undefined) {
      this.#idle.push(lane)
      return
    }
    this.#waiting.delete(waiter)
    waiter.take(lane)
  }

  /** See Connections. */
  renew(): void {
    for (const lane of this.#lanes) {
      this.#retired.add(lane)
      void lane
        .close()
        .catch(() => {})
        .finally(() => this.#retired.delete(lane))
    }
    this.#lanes = new Set()
    this.#idle = []
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const waiter of waiting) this.#serve(waiter)
  }

  async destroy(): Promise<void> {
    this.#isClosed = true
    for (const waiter of this.#waiting) waiter.fail(new errors.ClientDestroyedError())
    await Promise.all([...this.#lanes, ...this.#retired].map((lane) => lane.destroy()))
  }

  #serve(waiter: Waiter<L>): void {
    const lane = this.#idle.pop() ?? (this.#lanes.size < this.#maxLanes ? this.#open() : undefined)
    if (lane === undefined) this.#waiting.add(waiter)
    else waiter.take(lane)
  }

  #open(): L {
    const lane = this.#connect()
    this.#lanes.add(lane)
    return lane
  }
}
