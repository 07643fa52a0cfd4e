// Connections in an undici pool: for downloads from any host, and for requests through a proxy.

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
    // Sent after any response. Without one, the second request fails, because the first may not have been carried out.
    const next = answer.then((response) => {
      return new Promise<void>((resolve) => void response.body.once('close', resolve))
    })
    return { first: answer, second: next.then(() => this.request(second)) }
  }

  renew(): void {
    const old = this.#pool
    this.#pool = this.#make()
    this.#retired.add(old)
    // close() waits for the requests under way; their errors go to their callers.
    void old
      .close()
      .catch(() => {})
      .finally(() => this.#retired.delete(old))
  }

  async destroy(): Promise<void> {
    await Promise.all([this.#pool, ...this.#retired].map((pool) => pool.destroy()))
  }
}
