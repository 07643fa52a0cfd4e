// Sends changes to all open pages by server-sent events. Polls the drives only while a page is open.

import type { ServerResponse } from 'node:http'

const pollEveryMs = 1_000
/** Interval of an empty event, by which a page that is gone is noticed. */
const beatEveryMs = 15_000
/** Limit of unread data of a page, beyond which it is disconnected; a browser reconnects automatically. */
const mostWaitingBytes = 4 * 2 ** 20

export class Live {
  readonly #render: () => Promise<string>
  readonly #listeners = new Set<ServerResponse>()
  /** Text sent last, to all pages; undefined: the next is sent even if it is the same. */
  #last: string | undefined
  #lastAt = 0
  #isPolling = false

  /** `render` resolves with the part of the page that changes; it never rejects. */
  constructor(render: () => Promise<string>) {
    this.#render = render
  }

  /** Sends updates to this page until it is closed. The first one is always sent. */
  add(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
    response.write('retry: 2000\n\n')
    this.#listeners.add(response)
    response.once('close', () => this.#listeners.delete(response))
    this.#last = undefined
    if (!this.#isPolling) void this.#poll()
  }

  /** Sends an update at once, after an action. */
  async update(): Promise<void> {
    if (this.#listeners.size > 0) this.#send(await this.#render())
  }

  close(): void {
    for (const response of this.#listeners) response.end()
  }

  async #poll(): Promise<void> {
    this.#isPolling = true
    while (this.#listeners.size > 0) {
      this.#send(await this.#render())
      await new Promise((later) => setTimeout(later, pollEveryMs))
    }
    this.#isPolling = false
  }

  #send(text: string): void {
    const now = performance.now()
    const isChanged = text !== this.#last
    if (!isChanged && now - this.#lastAt < beatEveryMs) return
    this.#last = text
    this.#lastAt = now
    const event = isChanged ? `data: ${JSON.stringify(text)}\n\n` : ': here\n\n'
    for (const response of this.#listeners) {
      if (response.writableLength > mostWaitingBytes) response.destroy()
      else response.write(event)
    }
  }
}
