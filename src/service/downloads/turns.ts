// Limits the work of downloads in each turn of the event loop. libuv accepts one connection per turn, so with hundreds of
// downloads new connections would wait long: turns have to be short, and while connections arrive, downloads pause for up to
// `patienceMs`.

import type { Server } from 'node:net'
import { Transform } from 'node:stream'

/** Milliseconds of downloads in a turn. */
const budgetMs = 1
/** Milliseconds that downloads pause for arriving connections; the next turn lasts half as long as the pause. */
const patienceMs = 10

interface Waiting {
  step(): void
  /** True if the step starts so much work that no other step follows in the same turn. */
  readonly isWholeTurn: boolean
}

export class Turns {
  readonly #waiting: Waiting[] = []
  /** True if a connection arrived since the last turn. */
  #hasArrival = false
  /** Start of the pause for connections; undefined outside of one. */
  #pausedSinceMs: number | undefined

  readonly #now: () => number

  /** `now`: milliseconds. */
  constructor(server: Server, now: () => number = () => performance.now()) {
    this.#now = now
    server.on('connection', () => {
      this.#hasArrival = true
    })
  }

  /** Runs `step` in one of the next turns, in the order of the calls. */
  run(step: () => void, isWholeTurn = false): void {
    this.#waiting.push({ step, isWholeTurn })
    if (this.#waiting.length === 1) this.#soon()
  }

  /** Resolves when the next download may begin. */
  begin(): Promise<void> {
    return new Promise((resolve) => this.run(resolve, true))
  }

  /** Returns a stream that passes each piece on in one of the next turns. */
  pace(): Transform {
    return new Transform({ transform: (piece: Buffer, _, done) => this.run(() => done(null, piece)) })
  }

  #soon(): void {
    setImmediate(() => this.#turn())
  }

  #turn(): void {
    const nowMs = this.#now()
    if (this.#hasArrival) this.#pausedSinceMs ??= nowMs
    const waitedMs = nowMs - (this.#pausedSinceMs ?? nowMs)
    if (!this.#hasArrival || waitedMs >= patienceMs) {
      this.#pausedSinceMs = undefined
      this.#waiting.splice(0, this.#run(nowMs + Math.max(budgetMs, waitedMs / 2)))
    }
    this.#hasArrival = false
    if (this.#waiting.length > 0) this.#soon()
  }

  /** Runs steps until the time is over. Returns their number. */
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
