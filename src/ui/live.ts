// Tells every open page what has changed, by server-sent events. Looks only while somebody listens.

import type { ServerResponse } from 'node:http'

const lookEveryMs = 1_000
/** Says nothing new, so that a page that is gone is noticed. */
const beatEveryMs = 15_000
/** A page that takes nothing is cut off: browsers come back by themselves. */
const mostWaitingBytes = 4 * 2 ** 20

export class Live {
  readonly #render: () => Promise<string>
  readonly #listeners = new Set<ServerResponse>()
  #last: string | undefined
  #lastAt = 0
  #isLooking = false

  /** `render` answers the part of the page that changes; it never rejects. */
  constructor(render: () => Promise<string>) {
    this.#render = render
  }

  /** From now on this page is told, until it goes. The first look is told in any case. */
  add(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
    response.write('retry: 2000\n\n')
    this.#listeners.add(response)
    response.once('close', () => this.#listeners.delete(response))
    this.#last = undefined
    if (!this.#isLooking) void this.#look()
  }

  /** Tells now what has been done. */
  async tell(): Promise<void> {
    if (this.#listeners.size > 0) this.#send(await this.#render())
  }

  close(): void {
    for (const response of this.#listeners) response.end()
  }

  async #look(): Promise<void> {
    this.#isLooking = true
    while (this.#listeners.size > 0) {
      this.#send(await this.#render())
      await new Promise((later) => setTimeout(later, lookEveryMs))
    }
    this.#isLooking = false
  }

  #send(text: string): void {
    const now = performance.now()
    const isNews = text !== this.#last
    if (!isNews && now - this.#lastAt < beatEveryMs) return
    this.#last = text
    this.#lastAt = now
    const event = isNews ? `data: ${JSON.stringify(text)}\n\n` : ': here\n\n'
    for (const response of this.#listeners) {
      if (response.writableLength > mostWaitingBytes) response.destroy()
      else response.write(event)
    }
  }
}
