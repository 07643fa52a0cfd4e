// The connections to the service. A lane is one connection; it carries one request at a time, or two that are sent together. The
// lane used last is taken first, so that a sequence of requests reuses one connection, and idle ones expire.

import { DecoratorHandler, errors } from 'undici'
import type { Client, Dispatcher } from 'undici'
import type { Connections, Request, Response } from './connections.ts'

/** A request that waits for a lane. */
interface Waiter {
  take(lane: Client): void
  fail(reason: Error): void
}

export class Lanes implements Connections {
  readonly #maxLanes: number
  readonly #connect: () => Client
  /** All lanes but the retired ones. */
  #lanes = new Set<Client>()
  /** Lanes that finish their requests and take no more (see `renew`). */
  readonly #retired = new Set<Client>()
  #idle: Client[] = []
  readonly #waiting = new Set<Waiter>()
  #isClosed = false

  constructor(maxLanes: number, connect: () => Client) {
    this.#maxLanes = maxLanes
    this.#connect = connect
  }

  async request(request: Request): Promise<Response> {
    const lane = await this.#acquire(request.signal)
    const { body, whenNotRead } = watchedBody(request.body ?? null)
    return whenRead(lane.request({ ...request, body }), () => whenNotRead(() => this.#giveBack(lane)))
  }

  together(first: Request, second: Request): { first: Promise<Response>; second: Promise<Response> } {
    let left = 2
    const taken = this.#acquire(second.signal).then((lane) => {
      lane.pipelining = 2
      const giveBack = (): void => {
        left--
        if (left > 0) return
        lane.pipelining = 1
        this.#giveBack(lane)
      }
      const once = lane.compose(sentOnce)
      // Sent in the same turn of the event loop, so that no other request comes between them. undici sends the second before the
      // first is answered only if it is `idempotent` and the first not `blocking`; it repeats none, because of `sentOnce`.
      return [
        whenRead(once.request({ ...first, idempotent: true, blocking: false }), giveBack),
        whenRead(once.request({ ...second, idempotent: true }), giveBack),
      ] as const
    })
    return { first: taken.then(([answer]) => answer), second: taken.then(([, answer]) => answer) }
  }

  renew(): void {
    for (const lane of this.#lanes) {
      this.#retired.add(lane)
      void lane
        .close()
        .catch(() => {})
        .finally(() => this.#retired.delete(lane))
    }
    this.#lanes = new Set()
    this.#idle = []
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const waiter of waiting) this.#serve(waiter)
  }

  async destroy(): Promise<void> {
    this.#isClosed = true
    for (const waiter of this.#waiting) waiter.fail(new errors.ClientDestroyedError())
    await Promise.all([...this.#lanes, ...this.#retired].map((lane) => lane.destroy()))
  }

  #acquire(signal: AbortSignal): Promise<Client> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => waiter.fail(signal.reason as Error)
      const waiter: Waiter = {
        take(lane) {
          signal.removeEventListener('abort', giveUp)
          resolve(lane)
        },
        fail: (reason) => {
          this.#waiting.delete(waiter)
          signal.removeEventListener('abort', giveUp)
          reject(reason)
        },
      }
      if (signal.aborted) giveUp()
      else if (this.#isClosed) waiter.fail(new errors.ClientDestroyedError())
      else {
        this.#serve(waiter)
        if (this.#waiting.has(waiter)) signal.addEventListener('abort', giveUp)
      }
    })
  }

  #serve(waiter: Waiter): void {
    const lane = this.#idle.pop() ?? (this.#lanes.size < this.#maxLanes ? this.#open() : undefined)
    if (lane === undefined) this.#waiting.add(waiter)
    else waiter.take(lane)
  }

  #open(): Client {
    const lane = this.#connect()
    this.#lanes.add(lane)
    return lane
  }

  #giveBack(lane: Client): void {
    if (!this.#lanes.has(lane)) return
    const [waiter] = this.#waiting
    if (waiter === undefined) {
      this.#idle.push(lane)
      return
    }
    this.#waiting.delete(waiter)
    waiter.take(lane)
  }
}

type Body = NonNullable<Request['body']> | null

/**
 * Wraps a streamed body so that a lane is given back only when its body is no longer read. undici may still read a body after its
 * request has ended; if the lane then carried another request, an assertion in undici would fail and end the process.
 */
function watchedBody(body: Body): { body: Body; whenNotRead: (next: () => void) => void } {
  if (body === null || typeof body !== 'object' || !(Symbol.asyncIterator in body))
    return { body, whenNotRead: (next) => next() }
  const pieces = body as AsyncIterable<Uint8Array>
  let isBeingRead = false
  let next: (() => void) | undefined
  async function* chunks(): AsyncGenerator<Uint8Array> {
    isBeingRead = true
    try {
      yield* pieces
    } finally {
      // Later, because undici's own loop over the body ends after this.
      setImmediate(() => {
        isBeingRead = false
        next?.()
      })
    }
  }
  return {
    body: chunks() as unknown as Body,
    whenNotRead(then) {
      if (isBeingRead) next = then
      else then()
    },
  }
}

/** Calls `onDone` once: when the response's body was read to its end or destroyed, or when the request failed. */
async function whenRead(answer: Promise<Response>, onDone: () => void): Promise<Response> {
  let isDone = false
  const once = (): void => {
    if (!isDone) onDone()
    isDone = true
  }
  try {
    const response = await answer
    // 'end', too: its reader may send the next request before 'close' comes.
    response.body.once('end', once)
    response.body.once('close', once)
    return response
  } catch (error) {
    once()
    throw error
  }
}

/**
 * Keeps undici from sending a request twice. If a connection breaks, undici repeats the requests that were queued behind the first
 * one, although the service may have carried them out. This fails such a repetition; and an error in reconnecting for it becomes
 * "the connection broke", since "no connection" would mean that the request was never sent.
 */
function sentOnce(dispatch: Dispatcher['dispatch']): Dispatcher['dispatch'] {
  return (options, handler) => {
    const once: Dispatcher.DispatchHandler = new DecoratorHandler(handler)
    const start = once.onRequestStart?.bind(once)
    let isSent = false
    once.onRequestStart = (controller, context) => {
      if (isSent) controller.abort(brokenBeforeAnswer())
      else start?.(controller, context)
      isSent = true
    }
    const fail = once.onResponseError?.bind(once)
    once.onResponseError = (controller, error) => {
      const isBroken = isSent && !controller.aborted
      fail?.(controller, isBroken ? Object.assign(brokenBeforeAnswer(), { cause: error }) : error)
    }
    return dispatch(options, once)
  }
}

function brokenBeforeAnswer(): Error {
  return new errors.SocketError('the connection broke before the answer')
}
