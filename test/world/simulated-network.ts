// The way to the service and back, as bad as chance will have it. A request arrives whole or not at all; its answer may
// come late, in part, or never, and those of other connections overtake it. A request that was under way when its
// sender gave it up, or the drive's life ended, arrives all the same.

import { NetworkError, type NetworkErrorKind } from '../../src/api/errors.ts'
import type { Answer, Transport, TransportRequest } from '../../src/world/transport.ts'
import type { Network } from '../../src/world/network.ts'
import type { Chance } from '../model/chance.ts'
import type { EventQueue, Life } from './events.ts'
import { failure, type ModelAnswer, type ModelRequest, type ServiceModel } from './service-model.ts'

/** How the network and what stands before the service are just now. */
export interface Weather {
  readonly latencyMs: number
  /** How often each of these happens to a call, 0 to 1. */
  readonly trouble: number
  readonly kinds: readonly Trouble[]
  readonly isDown: boolean
}

export const troubles = [
  'refused', 'lost request', 'late request', 'late change', 'lost answer', 'silence', 'cut body', 'late', 'slow', '500', '503', '429', '403', '500 after',
] as const // prettier-ignore
/** A balancer sends a change twice, and passes on what it is told of the second. Not in every world. */
export const repeated = 'repeated'
/** The connection breaks, and the change arrives later all the same. Not in every world. */
export const brokenAndLate = 'broken and late'
export type Trouble = (typeof troubles)[number] | typeof repeated | typeof brokenAndLate

export const fairWeather: Weather = { latencyMs: 5, trouble: 0, kinds: [], isDown: false }
/** An answer this late finds nobody waiting. */
const lateMs = 200_000
/** One that is only slow is overtaken by others. */
const slowMs = 4_000
/** A request is on its way so long at most: it arrives also where its sender has given it up. */
export const lateRequestMs = 4_000
const pieceBytes = 40_000

export class SimulatedNetwork {
  weather: Weather = fairWeather
  faults = 0
  /** Takes a line for each request and its outcome, for the history. */
  note: (line: string) => void = () => {}
  readonly #events: EventQueue
  readonly #chance: Chance
  readonly #service: ServiceModel
  /** Paths of the DELETEs under way, also of those that were given up. */
  readonly #deletes: string[] = []

  constructor(events: EventQueue, chance: Chance, service: ServiceModel) {
    this.#events = events
    this.#chance = chance
    this.#service = service
  }

  /** As one life of the drive sees it. */
  of(life: Life): Network {
    return { state: () => '', open: () => this.#transport(life) }
  }

  /** True while a DELETE is on its way there that was asked for already. */
  isDeleting(path: string): boolean {
    return this.#deletes.includes(path)
  }

  #transport(life: Life): Transport {
    const send = (request: TransportRequest, ask: (request: ModelRequest) => ModelAnswer): Promise<Answer> =>
      this.#send(request, ask, request.signal, life)
    return {
      callService: (request) => send(request, (asked) => this.#service.handle(asked)),
      together: (one, other) => {
        const ask = (asked: ModelRequest): ModelAnswer => this.#service.handle(asked)
        if (!this.#service.habits.keepsOrder) return { first: send(one, ask), second: send(other, ask) }
        const line = new Line()
        const first = this.#send(one, ask, one.signal, life, { before: line })
        first.catch(() => line.end(true, false))
        return { first, second: this.#send(other, ask, other.signal, life, { after: line }) }
      },
      download: (request) => send(request, (asked) => this.#service.download(asked)),
      renew() {},
      async close() {},
    }
  }

  async #send(
    request: TransportRequest,
    ask: (request: ModelRequest) => ModelAnswer,
    signal: AbortSignal,
    life: Life,
    { before, after }: { before?: Line; after?: Line } = {},
  ): Promise<Answer> {
    signal.throwIfAborted()
    const trouble = this.#trouble(request.method)
    const path = decodeURIComponent(request.target.replace(/^.*path=/, '').replace(/&.*/, ''))
    const line = `${request.method} ${path}`
    if (this.weather.isDown || trouble === 'refused') {
      before?.end(true, false)
      await this.#wait(1, signal, life)
      throw failed(request, 'unreachable', 'no connection')
    }
    const begunAt = this.#events.now
    const body = await this.#bodyOf(request, signal, life)
    const asked = (): ModelRequest => ({
      method: request.method,
      target: request.target,
      headers: request.headers,
      body,
      onItsWayMs: this.#events.now - begunAt,
    })
    const isBrokenAndLate = trouble === brokenAndLate
    const isLate = trouble === 'late request' || trouble === 'late change' || isBrokenAndLate
    // The second of two is on its way while it waits for the first.
    const arrivesAt = this.#events.now + (isLate ? this.#chance.below(lateRequestMs) : 0)
    if (after !== undefined) {
      signal.addEventListener('abort', () => after.end(true, false), { once: true })
      await after.ended
      signal.throwIfAborted()
    }
    if (after?.isBroken === true) {
      // Both had been sent: the service may have come to this one, too. Its answer is lost.
      if (after.isServed && this.#chance.random() < 0.5) {
        const { status } = ask(asked())
        this.note(`${line} ${status} (after a lost answer)`)
      }
      await this.#wait(1, signal, life)
      throw failed(request, 'cut', 'the connection broke')
    }
    return new Promise<Answer>((resolve, reject) => {
      const abort = (): void => reject(signal.reason as Error)
      // Given up with the last piece of the body: nobody would tell again.
      if (signal.aborted) abort()
      signal.addEventListener('abort', abort, { once: true })
      /** A drive that is no more hears nothing of this. */
      const tell = (ms: number, run: () => void): void => {
        this.#events.after(ms, () => {
          signal.removeEventListener('abort', abort)
          if (!life.isOver) run()
        })
      }
      const fail = (ms: number): void =>
        tell(ms, () => reject(failed(request, 'cut', 'the connection broke')))
      const onItsWay = Math.max(0, arrivesAt - this.#events.now)
      if (request.method === 'DELETE') this.#deletes.push(path)
      if (isBrokenAndLate) {
        before?.end(true, false)
        fail(this.#latency())
      }
      this.#events.after(onItsWay + (after === undefined ? this.#latency() : 0), () => {
        if (request.method === 'DELETE') this.#deletes.splice(this.#deletes.indexOf(path), 1)
        if (trouble === 'lost request') {
          before?.end(true, false)
          this.note(`${line} is lost on its way`)
          return fail(this.#latency())
        }
        if (trouble === repeated) ask(asked())
        const answer = this.#before(trouble) ?? ask(asked())
        const told = trouble === '500 after' ? failure(500, 'Unexpected failure') : answer
        const isGivenUp = signal.aborted ? ', given up' : ''
        this.note(`${line} ${answer.status}${trouble === undefined ? '' : ` (${trouble}${isGivenUp})`}`)
        before?.end(trouble === 'lost answer' || trouble === 'silence', true)
        if (isBrokenAndLate) return
        if (trouble === 'lost answer') return fail(this.#latency())
        if (trouble === 'silence') return
        const lateBy = trouble === 'late' ? lateMs : trouble === 'slow' ? slowMs : 0
        const ms = this.#latency() + (lateBy === 0 ? 0 : this.#chance.below(lateBy))
        tell(ms, () => resolve(this.#answer(request, told, trouble === 'cut body', signal, life)))
      })
    })
  }

  #trouble(method: string): Trouble | undefined {
    const { trouble, kinds } = this.weather
    if (this.#chance.random() >= trouble) return undefined
    const kind = this.#chance.pick(kinds)
    if ((kind === 'late change' || kind === repeated || kind === brokenAndLate) && method === 'GET')
      return undefined
    this.faults++
    return kind
  }

  /** The answer of a proxy before the service; undefined where it lets the request through. */
  #before(trouble: Trouble | undefined): ModelAnswer | undefined {
    if (trouble === '500') return failure(500, 'Unexpected failure')
    if (trouble === '503') return failure(503, 'try again later')
    if (trouble === '403') return failure(403, 'not now')
    if (trouble === '429') return failure(429, 'too many', { 'retry-after': String(this.#chance.below(3)) })
    return undefined
  }

  async #bodyOf(request: TransportRequest, signal: AbortSignal, life: Life): Promise<Buffer> {
    if (request.body === undefined) return Buffer.alloc(0)
    if (typeof request.body === 'string' || request.body instanceof Uint8Array)
      return Buffer.from(request.body)
    const pieces: Uint8Array[] = []
    let left = Number(request.headers['content-length'])
    let isFirst = true
    for await (const piece of request.body) {
      if (!isFirst) await this.#wait(this.#latency() / 4, signal, life)
      isFirst = false
      pieces.push(Buffer.from(piece))
      left -= piece.length
      // A request that was given up before all of its body had left never arrives.
      if (left > 0) signal.throwIfAborted()
    }
    return Buffer.concat(pieces)
  }

  #answer(
    request: TransportRequest,
    told: ModelAnswer,
    isCut: boolean,
    signal: AbortSignal,
    life: Life,
  ): Answer {
    const wait = (): Promise<void> => this.#wait(this.#latency() / 4, signal, life)
    const end = isCut ? this.#chance.below(told.body.length + 1) : told.body.length
    let isGivenUp = false
    async function* chunks(): AsyncGenerator<Uint8Array> {
      for (let from = 0; from < end; from += pieceBytes) {
        if (from > 0) await wait()
        if (isGivenUp) return
        yield told.body.subarray(from, Math.min(end, from + pieceBytes))
      }
      if (isCut) throw failed(request, 'cut', 'the connection broke')
    }
    return {
      status: told.status,
      header: (name) => told.headers[name],
      chunks: chunks(),
      discard() {
        isGivenUp = true
      },
    }
  }

  #latency(): number {
    return this.weather.latencyMs * (0.5 + this.#chance.random())
  }

  #wait(ms: number, signal: AbortSignal, life: Life): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = (): void => reject(signal.reason as Error)
      signal.addEventListener('abort', abort, { once: true })
      this.#events.after(ms, () => {
        signal.removeEventListener('abort', abort)
        if (!life.isOver) resolve()
      })
    })
  }
}

/** The first of two requests on one connection, for the second. */
class Line {
  #isOver = false
  isBroken = false
  /** The service has dealt with the first. */
  isServed = false
  end: (isBroken: boolean, isServed: boolean) => void = () => {}
  readonly ended: Promise<void>

  constructor() {
    this.ended = new Promise((resolve) => {
      this.end = (isBroken, isServed) => {
        if (this.#isOver) return
        this.#isOver = true
        this.isBroken = isBroken
        this.isServed = isServed
        resolve()
      }
    })
  }
}

function failed({ call }: TransportRequest, kind: NetworkErrorKind, detail: string): NetworkError {
  return new NetworkError(call, kind, detail)
}
