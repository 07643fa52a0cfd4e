// Pieces of downloads are passed on a few in each turn of the event loop. libuv accepts one connection a turn, so that who comes
// while hundreds of downloads begin waits for as many turns: they have to be short.

import { Transform } from 'node:stream'

/** Milliseconds of a turn. */
const budgetMs = 1

export class Turns {
  readonly #waiting: (() => void)[] = []

  /** Runs `step` soon, in the order in which they came. */
  run(step: () => void): void {
    this.#waiting.push(step)
    if (this.#waiting.length === 1) setImmediate(() => this.#turn())
  }

  /** Passes each piece on when it is its turn. */
  pace(): Transform {
    return new Transform({ transform: (piece: Buffer, _, done) => this.run(() => done(null, piece)) })
  }

  #turn(): void {
    const untilMs = performance.now() + budgetMs
    let done = 0
    while (done < this.#waiting.length && (done === 0 || performance.now() < untilMs))
      this.#waiting[done++]!()
    this.#waiting.splice(0, done)
    if (this.#waiting.length > 0) setImmediate(() => this.#turn())
  }
}
