// The calls under way, and how long each has had no answer. A silent call raises doubt about the service, and while the service
// is away, calls are ended.

import type { Clock, Timer } from '../../world/clock.ts'
import { NetworkError } from '../../api/errors.ts'
import type { CallDescription } from '../../api/errors.ts'
import type { CallWatch } from '../../api/types.ts'
import type { Uplink } from './uplink.ts'

/**
 * - `question`: a caller waits for it, and it may be repeated (GET, a download).
 * - `change`: it may take long, and is not ended while it may still be carried out (PUT, DELETE).
 */
export type CallKind = 'question' | 'change'

/** A call without a byte for so long raises doubt (ms). */
const doubtAfterMs = 2_500
/** While the service is away, a question is ended after so long a silence (ms). */
const questionEndsAfterMs = 500
/** A change begun before an absence, and silent for so long after it, hangs on a dead connection (ms). */
const changeEndsAfterMs = 5_000
/** A timer that rings so late (ms) shows that the process was stopped, so the silence means nothing. */
const standstillMs = 2_000

export class CallUnderWay implements CallWatch {
  readonly description: CallDescription
  readonly kind: CallKind
  readonly #controller = new AbortController()
  readonly #onFailure: (error: unknown) => void
  readonly #clock: Clock
  readonly #uplink: Uplink
  /** Time of the last byte (ms, monotonic). */
  seenAt: number
  /** Longest silence so far (ms), our own uploads' part included: for `Uplink.answered`. */
  longestSilentMs = 0
  /** Its present silence was reported already: each raises doubt once. */
  hasRaisedDoubt = false
  /** A change that was under way while the service was away, and has been silent since. */
  isSuspect = false
  /** A download whose reader asks for no bytes at the moment. */
  isResting = false

  constructor(
    description: CallDescription,
    kind: CallKind,
    { clock, uplink }: { readonly clock: Clock; readonly uplink: Uplink },
    onFailure: (error: unknown) => void,
  ) {
    this.description = description
    this.kind = kind
    this.#clock = clock
    this.#uplink = uplink
    this.seenAt = clock.monotonic()
    this.#onFailure = onFailure
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  onProgress(): void {
    const now = this.#clock.monotonic()
    this.longestSilentMs = Math.max(this.longestSilentMs, this.allSilentMs(now))
    this.seenAt = now
    this.isSuspect = false
    this.hasRaisedDoubt = false
  }

  onFailure(error: unknown): void {
    this.#onFailure(error)
  }

  end(error: NetworkError): void {
    this.#controller.abort(error)
  }

  /** Silence since a time (ms), without the delay that our own uploads explain. */
  silentMs(since: number = this.seenAt): number {
    return this.isResting ? 0 : this.#uplink.silentMs(since)
  }

  /** All of its silence (ms), including delay that our own uploads explain. */
  allSilentMs(now: number): number {
    return this.isResting ? 0 : now - this.seenAt
  }
}

export interface CallsUnderWayOptions {
  readonly clock: Clock
  readonly isAway: () => boolean
  readonly reason: () => string
  /** Called when a call has been silent for long. */
  onSilent(): void
}

export class CallsUnderWay {
  readonly #options: CallsUnderWayOptions
  readonly #calls = new Set<CallUnderWay>()
  #timer: Timer | undefined
  #checkAt = Infinity

  constructor(options: CallsUnderWayOptions) {
    this.#options = options
  }

  begin(call: CallUnderWay): void {
    this.#calls.add(call)
    this.#schedule(this.#options.clock.monotonic() + doubtAfterMs)
  }

  finish(call: CallUnderWay): void {
    this.#calls.delete(call)
    if (this.#calls.size > 0) return
    this.#options.clock.clear(this.#timer)
    this.#checkAt = Infinity
  }

  /** Called when the service is away: questions are ended soon. */
  lost(): void {
    for (const call of this.#calls) if (call.kind === 'change') call.isSuspect = true
    this.#check()
  }

  /** Called when an attempt failed: while the service is away, a question gets no second one. */
  failed(call: CallUnderWay): void {
    if (this.#options.isAway() && call.kind === 'question') this.#end(call)
  }

  /** Called when the service is back: changes that hang on a connection from before are ended if they stay silent. */
  found(): void {
    for (const call of this.#calls) if (call.isSuspect) call.seenAt = this.#options.clock.monotonic()
    this.#check()
  }

  /** Questions that have been silent long enough to raise doubt: asked once more when the service turns out to be there. */
  *silent(): Iterable<CallUnderWay> {
    for (const call of this.#calls)
      if (call.kind === 'question' && call.silentMs() >= doubtAfterMs) yield call
  }

  #schedule(at: number): void {
    if (at >= this.#checkAt) return
    this.#options.clock.clear(this.#timer)
    this.#checkAt = at
    const { clock } = this.#options
    this.#timer = clock.setTimeout(() => this.#onTimer(), Math.max(1, at - clock.monotonic())).unref()
  }

  #onTimer(): void {
    const now = this.#options.clock.monotonic()
    if (now - this.#checkAt > standstillMs) for (const call of this.#calls) call.seenAt = now
    this.#check()
  }

  #check(): void {
    this.#checkAt = Infinity
    const isAway = this.#options.isAway()
    const now = this.#options.clock.monotonic()
    let next = Infinity
    let isAnySilent = false
    for (const call of this.#calls) {
      const silentMs = isAway ? call.allSilentMs(now) : call.silentMs()
      const endsAfterMs = endsAfter(call, isAway)
      const doubtMs = isAway ? Infinity : doubtAfterMs
      if (silentMs >= endsAfterMs) {
        this.#end(call)
      } else if (silentMs >= doubtMs) {
        next = Math.min(next, now + doubtAfterMs)
        isAnySilent ||= !call.hasRaisedDoubt
        call.hasRaisedDoubt = true
      } else {
        next = Math.min(next, now + Math.min(endsAfterMs, doubtMs) - silentMs)
      }
    }
    if (next !== Infinity) this.#schedule(next)
    if (isAnySilent) this.#options.onSilent()
  }

  #end(call: CallUnderWay): void {
    const { description, kind } = call
    call.end(
      kind === 'question'
        ? new NetworkError(description, 'away', `the service is out of reach: ${this.#options.reason()}`)
        : new NetworkError(description, 'cut', 'the connection is from before the service was out of reach'),
    )
  }
}

/** Silence after which the call is ended (ms). */
function endsAfter({ kind, isSuspect }: CallUnderWay, isAway: boolean): number {
  if (kind === 'question') return isAway ? questionEndsAfterMs : Infinity
  return isSuspect && !isAway ? changeEndsAfterMs : Infinity
}
