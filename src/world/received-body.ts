// The body of a response as it comes, between its connection and its reader.

/** With so many bytes unread, no more are received. */
const mostUnreadBytes = 256 * 1024

export interface BodyEvents {
  /** More may be received, after `push` returned false. */
  readonly onRoom: () => void
  /** Its reader wants no more of it. */
  readonly onLeave: () => void
}

export class ReceivedBody implements AsyncIterableIterator<Uint8Array> {
  readonly #events: BodyEvents
  readonly #unread: Uint8Array[] = []
  #unreadBytes = 0
  #outcome: { readonly error?: unknown } | undefined
  #reader:
    | {
        readonly resolve: (result: IteratorResult<Uint8Array, undefined>) => void
        readonly reject: (error: unknown) => void
      }
    | undefined

  constructor(events: BodyEvents) {
    this.#events = events
  }

  /** Adds a piece, which must not change any more. False if the reader has enough for now. */
  push(piece: Uint8Array): boolean {
    const reader = this.#reader
    if (reader === undefined) {
      this.#unread.push(piece)
      this.#unreadBytes += piece.length
    } else {
      this.#reader = undefined
      reader.resolve({ done: false, value: piece })
    }
    return this.#unreadBytes < mostUnreadBytes
  }

  /** No more will come; what came can still be read. */
  end(outcome: { readonly error?: unknown } = {}): void {
    if (this.#outcome !== undefined) return
    this.#outcome = outcome
    const reader = this.#reader
    this.#reader = undefined
    if (reader === undefined) return
    if ('error' in outcome) reader.reject(outcome.error)
    else reader.resolve({ done: true, value: undefined })
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const piece = this.#unread.shift()
    if (piece !== undefined) {
      const wasFull = this.#unreadBytes >= mostUnreadBytes
      this.#unreadBytes -= piece.length
      if (wasFull && this.#unreadBytes < mostUnreadBytes) this.#events.onRoom()
      return Promise.resolve({ done: false, value: piece })
    }
    if (this.#outcome === undefined)
      return new Promise((resolve, reject) => void (this.#reader = { resolve, reject }))
    return 'error' in this.#outcome
      ? Promise.reject(this.#outcome.error)
      : Promise.resolve({ done: true, value: undefined })
  }

  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#events.onLeave()
    return Promise.resolve({ done: true, value: undefined })
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
