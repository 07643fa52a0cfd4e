// Downloads begin, and their pieces are passed on, a few in each turn of the event loop. libuv accepts one connection a turn, so
// a connection that comes behind hundreds of downloads waits for as many turns: they have to be short, and while connections
// come, these are accepted first.

import type { Server } from 'node:net'
import { Transform } from 'node:stream'

/** Milliseconds of a turn. */
const budgetMs = 1
/** Milliseconds that downloads wait for connections to be accepted; then a turn lasts half as long as they waited. */
const patienceMs = 10

interface Waiting {
  step(): void
  /** The work that follows from it takes the turn's time. */
  readonly isWholeTurn: boolean
}

export class Turns {
  readonly #waiting: Waiting[] = []
  #hasArrival = false
  /** When they let connections go first; undefined where they do not wait. */
  #givingWayMs: number | undefined

  readonly #now: () => number

  /** `now`: milliseconds. */
  constructor(server: Server, now: () => number = () => performance.now()) {
    this.#now = now
    server.on('connection', () => {
      this.#hasArrival = true
    })
  }

  /** Runs `step` soon, in the order in which they came. */
  run(step: () => void, isWholeTurn = false): void {
    this.#waiting.push({ step, isWholeTurn })
    if (this.#waiting.length === 1) this.#soon()
  }

  /** Resolves when the next download may begin. */
  begin(): Promise<void> {
    return new Promise((resolve) => this.run(resolve, true))
  }

  /** Passes each piece on when it is its turn. */
  pace(): Transform {
    return new Transform({ transform: (piece: Buffer, _, done) => this.run(() => done(null, piece)) })
  }

  #soon(): void {
    setImmediate(() => this.#turn())
  }

  #turn(): void {
    const nowMs = this.#now()
    if (this.#hasArrival) this.#givingWayMs ??= nowMs
    const waitedMs = nowMs - (this.#givingWayMs ?? nowMs)
    if (!this.#hasArrival || waitedMs >= patienceMs) {
      this.#givingWayMs = undefined
      this.#waiting.splice(0, this.#run(nowMs + Math.max(budgetMs, waitedMs / 2)))
    }
    this.#hasArrival = false
    if (this.#waiting.length > 0) this.#soon()
  }

  /** Answers how many. */
  #run(untilMs: number): number {
    let done = 0
    for (const waiting of this.#waiting) {
      waiting.step()
      done++
      if (waiting.isWholeTurn || this.#now() >= untilMs) break
    }
    return done
  }
}
