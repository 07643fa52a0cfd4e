// Virtual time: what is due next happens next, and nothing happens between two events. Node's queue of ticks comes to its
// turn when every promise of an event has been followed to its end.

import { createClock, type Clock, type Timer } from '../../src/world/clock.ts'

/** So many events are between two turns of Node's own loop. */
const turnEvery = 1_000

interface Event {
  at: number
  /** Of two at the same time the one asked for first comes first. */
  order: number
  run: (() => void) | undefined
}

/** One life of a drive, from its start to its end: work that began in it is never carried on after it. */
export interface Life {
  isOver: boolean
  /** Done when it is over. */
  readonly atEnd: (() => void)[]
}

export class EventQueue {
  /** Milliseconds since the world began. */
  now = 0
  /** So many have happened. */
  count = 0
  #order = 0
  readonly #heap: Event[] = []

  after(ms: number, run: () => void): Event {
    const event: Event = { at: this.now + Math.max(0, ms), order: ++this.#order, run }
    this.#push(event)
    return event
  }

  /** When the next one is due; Infinity where there is none. */
  get nextAt(): number {
    this.#dropCancelled()
    return this.#heap[0]?.at ?? Infinity
  }

  /** Lets the next event happen, and all that follows from it at once. False where there is none. */
  async next(): Promise<boolean> {
    this.#dropCancelled()
    const event = this.#pop()
    if (event === undefined) return false
    this.now = event.at
    this.count++
    event.run?.()
    await (this.count % turnEvery === 0 ? turned() : promisesFollowed())
    return true
  }

  /** The clock of one life: what it asked for does not happen once it is over. `wallAt0`: epoch ms when the world began. */
  clock(life: Life, wallAt0: () => number): Clock {
    const set = (run: () => void, ms: number, every?: number): SimulatedTimer => {
      const timer = new SimulatedTimer(this, life, run, ms, every)
      timer.refresh()
      return timer
    }
    return createClock(
      () => Math.floor(wallAt0() + this.now),
      () => this.now + 5_000,
      {
        setTimeout: (run, ms) => set(run, ms > 2 ** 31 - 1 || !(ms >= 1) ? 1 : ms),
        setInterval: (run, ms) => set(run, Math.max(1, ms), Math.max(1, ms)),
        setImmediate: (run) => set(run, 0),
        clear: (timer) => (timer as SimulatedTimer | undefined)?.cancel(),
      },
    )
  }

  #dropCancelled(): void {
    while (this.#heap.length > 0 && this.#heap[0]?.run === undefined) this.#pop()
  }

  #push(event: Event): void {
    const heap = this.#heap
    let at = heap.length
    heap.push(event)
    while (at > 0) {
      const above = (at - 1) >> 1
      const parent = heap[above] as Event
      if (!isBefore(event, parent)) break
      heap[at] = parent
      at = above
    }
    heap[at] = event
  }

  #pop(): Event | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined || heap.length === 0) return first
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Event, heap[child] as Event)) child++
      if (!isBefore(heap[child] as Event, last)) break
      heap[at] = heap[child] as Event
      at = child
    }
    heap[at] = last
    return first
  }
}

/** Node's own loop has turned: what nobody holds any more is let go. */
function turned(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Every promise has been followed as far as it goes by itself. */
export function promisesFollowed(): Promise<void> {
  // Ticks run when no promise is left to follow; what goes on by one is followed once more.
  return new Promise((resolve) => {
    process.nextTick(() => void Promise.resolve().then(() => process.nextTick(resolve)))
  })
}

function isBefore(one: Event, other: Event): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order)
}

class SimulatedTimer implements Timer {
  readonly #queue: EventQueue
  readonly #life: Life
  readonly #run: () => void
  readonly #ms: number
  readonly #every: number | undefined
  #event: Event | undefined

  constructor(queue: EventQueue, life: Life, run: () => void, ms: number, every: number | undefined) {
    this.#queue = queue
    this.#life = life
    this.#run = run
    this.#ms = ms
    this.#every = every
  }

  unref(): Timer {
    return this
  }

  refresh(): Timer {
    this.cancel()
    this.#event = this.#queue.after(this.#ms, () => {
      if (this.#life.isOver) return
      if (this.#every !== undefined) this.refresh()
      this.#run()
    })
    return this
  }

  cancel(): void {
    if (this.#event !== undefined) this.#event.run = undefined
  }
}
