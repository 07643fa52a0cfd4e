// Graceful shutdown: requests under way get time to finish, new ones are refused with 503, so that a proxy sends them elsewhere.

import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../service-error.ts'
import { longestTimerMs } from '../timers.ts'

export class Drain {
  #underWay = 0
  #isDraining = false
  #done: (() => void) | undefined

  get isDraining(): boolean {
    return this.#isDraining
  }

  /** Number of requests that are not answered yet. */
  get underWay(): number {
    return this.#underWay
  }

  /** Call it before other hooks are added. Requests with an `isExempt` URL are answered until the end. */
  register(app: FastifyInstance, isExempt: (url: string) => boolean): void {
    app.addHook('onRequest', (request, reply, done) => {
      if (this.#isDraining && !isExempt(request.url)) {
        void reply.headers({ 'retry-after': 1, connection: 'close' })
        throw new ServiceError(503, 'the service is about to end: try again')
      }
      this.#underWay++
      reply.raw.once('close', () => {
        this.#underWay--
        if (this.#underWay === 0) this.#done?.()
      })
      done()
    })
  }

  /** Refuses new requests from now on. */
  begin(): void {
    this.#isDraining = true
  }

  /** As `begin`, then resolves with true when all requests are answered, or with false after `waitMs`. */
  async end(waitMs: number): Promise<boolean> {
    this.begin()
    if (this.#underWay === 0) return true
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), Math.min(waitMs, longestTimerMs))
      this.#done = () => {
        clearTimeout(timer)
        resolve(true)
      }
    })
  }
}
