// Connections that undici keeps for us: to any host, or through a proxy.

import type { Dispatcher } from 'undici'
import type { Connections, Request, Response } from './connections.ts'

export class Pooled implements Connections {
  readonly #make: () => Dispatcher
  readonly #retired = new Set<Dispatcher>()
  #pool: Dispatcher

  constructor(make: () => Dispatcher) {
    this.#make = make
    this.#pool = make()
  }

  request(request: Request): Promise<Response> {
    return this.#pool.request(request)
  }

  together(first: Request, second: Request): { first: Promise<Response>; second: Promise<Response> } {
    const answer = this.request(first)
    // Whatever it says; without any answer nobody knows whether the second would find it done.
    const next = answer.then((response) => {
      return new Promise<void>((resolve) => void response.body.once('close', resolve))
    })
    return { first: answer, second: next.then(() => this.request(second)) }
  }

  renew(): void {
    const old = this.#pool
    this.#pool = this.#make()
    this.#retired.add(old)
    // Waits for the requests under way; what becomes of them is told to who made them.
    void old
      .close()
      .catch(() => {})
      .finally(() => this.#retired.delete(old))
  }

  async destroy(): Promise<void> {
    await Promise.all([this.#pool, ...this.#retired].map((pool) => pool.destroy()))
  }
}
