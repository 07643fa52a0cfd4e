// The graceful end: whoever is being answered gets the time to finish, whoever comes now is sent elsewhere.

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

  /** Requests not answered yet. */
  get underWay(): number {
    return this.#underWay
  }

  /** Before any other hook. `isExempt` names what is answered to the last. */
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

  /** Admits nobody any more. */
  begin(): void {
    this.#isDraining = true
  }

  /** The same, and answers, after `waitMs` at the latest, whether all were answered. */
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
