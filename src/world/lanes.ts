// The connections to the service. A lane is one connection; it carries one request at a time, or two that are sent together.

import { DecoratorHandler, errors } from 'undici'
import type { Client, Dispatcher } from 'undici'
import type { Connections, Request, Response } from './connections.ts'
import { LanePool } from './lane-pool.ts'

export class Lanes implements Connections {
  readonly #pool: LanePool<Client>

  constructor(maxLanes: number, connect: () => Client) {
    this.#pool = new LanePool(maxLanes, connect)
  }

  async request(request: Request): Promise<Response> {
    const lane = await this.#pool.acquire(request.signal)
    const { body, whenNotRead } = watchedBody(request.body ?? null)
    return whenRead(lane.request({ ...request, body }), () => whenNotRead(() => this.#pool.giveBack(lane)))
  }

  together(first: Request, second: Request): { first: Promise<Response>; second: Promise<Response> } {
    let left = 2
    const taken = this.#pool.acquire(second.signal).then((lane) => {
      lane.pipelining = 2
      const giveBack = (): void => {
        left--
        if (left > 0) return
        lane.pipelining = 1
        this.#pool.giveBack(lane)
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
    this.#pool.renew()
  }

  destroy(): Promise<void> {
    return this.#pool.destroy()
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
