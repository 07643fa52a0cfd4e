// The connections to the service. Each carries one request at a time, or two that go out together. The one that was used last
// is taken first: requests one after another share one, and the others grow old.

import { DecoratorHandler, errors } from 'undici'
import type { Client, Dispatcher } from 'undici'
import type { Connections, Request, Response } from './connections.ts'

interface Turn {
  take(lane: Client): void
  fail(reason: Error): void
}

export class Lanes implements Connections {
  readonly #most: number
  readonly #make: () => Client
  /** Those that requests from now on may take. */
  #lanes = new Set<Client>()
  readonly #retired = new Set<Client>()
  #idle: Client[] = []
  readonly #waiting = new Set<Turn>()
  #isClosed = false

  constructor(most: number, make: () => Client) {
    this.#most = most
    this.#make = make
  }

  async request(request: Request): Promise<Response> {
    const lane = await this.#take(request.signal)
    const { body, whenLeft } = watched(request.body ?? null)
    return whenRead(lane.request({ ...request, body }), () => whenLeft(() => this.#giveBack(lane)))
  }

  together(first: Request, second: Request): { first: Promise<Response>; second: Promise<Response> } {
    let left = 2
    const taken = this.#take(second.signal).then((lane) => {
      lane.pipelining = 2
      const giveBack = (): void => {
        left--
        if (left > 0) return
        lane.pipelining = 1
        this.#giveBack(lane)
      }
      const once = lane.compose(sentOnce)
      // In one turn, so that nothing comes between them.
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
    for (const turn of waiting) this.#serve(turn)
  }

  async destroy(): Promise<void> {
    this.#isClosed = true
    for (const turn of this.#waiting) turn.fail(new errors.ClientDestroyedError())
    await Promise.all([...this.#lanes, ...this.#retired].map((lane) => lane.destroy()))
  }

  #take(signal: AbortSignal): Promise<Client> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => turn.fail(signal.reason as Error)
      const turn: Turn = {
        take(lane) {
          signal.removeEventListener('abort', giveUp)
          resolve(lane)
        },
        fail: (reason) => {
          this.#waiting.delete(turn)
          signal.removeEventListener('abort', giveUp)
          reject(reason)
        },
      }
      if (signal.aborted) giveUp()
      else if (this.#isClosed) turn.fail(new errors.ClientDestroyedError())
      else {
        this.#serve(turn)
        if (this.#waiting.has(turn)) signal.addEventListener('abort', giveUp)
      }
    })
  }

  #serve(turn: Turn): void {
    const lane = this.#idle.pop() ?? (this.#lanes.size < this.#most ? this.#open() : undefined)
    if (lane === undefined) this.#waiting.add(turn)
    else turn.take(lane)
  }

  #open(): Client {
    const lane = this.#make()
    this.#lanes.add(lane)
    return lane
  }

  #giveBack(lane: Client): void {
    if (!this.#lanes.has(lane)) return
    const [turn] = this.#waiting
    if (turn === undefined) {
      this.#idle.push(lane)
      return
    }
    this.#waiting.delete(turn)
    turn.take(lane)
  }
}

type Body = NonNullable<Request['body']> | null

/**
 * A body that comes piece by piece may still be read when its request is over, and undici then takes whatever its client carries
 * for that request: it fails an assertion, which ends the process. A lane is free once the body is left, too.
 */
function watched(body: Body): { body: Body; whenLeft: (next: () => void) => void } {
  if (body === null || typeof body !== 'object' || !(Symbol.asyncIterator in body))
    return { body, whenLeft: (next) => next() }
  const pieces = body as AsyncIterable<Uint8Array>
  let isBeingRead = false
  let next: (() => void) | undefined
  async function* chunks(): AsyncGenerator<Uint8Array> {
    isBeingRead = true
    try {
      yield* pieces
    } finally {
      // By then undici's own loop over it has ended.
      setImmediate(() => {
        isBeingRead = false
        next?.()
      })
    }
  }
  return {
    body: chunks() as unknown as Body,
    whenLeft(then) {
      if (isBeingRead) next = then
      else then()
    },
  }
}

/** Tells once that the answer's body was read to its end, or given up, or that none came. */
async function whenRead(answer: Promise<Response>, tell: () => void): Promise<Response> {
  let isTold = false
  const once = (): void => {
    if (!isTold) tell()
    isTold = true
  }
  try {
    const response = await answer
    // A caller that has read it to its end may ask again before it has closed.
    response.body.once('end', once)
    response.body.once('close', once)
    return response
  } catch (error) {
    once()
    throw error
  }
}

/**
 * undici sends anew what stood behind a request whose connection broke: of a change nobody may do that unseen. Where it finds no
 * connection for that, the request fails with what was said of it: that it was sent before must not be forgotten.
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
