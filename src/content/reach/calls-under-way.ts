// The calls under way, and how long each has been silent: silence raises doubt, and when the service is away nobody goes
// on waiting for it.

import type { Clock, Timer } from '../../world/clock.ts'
import { NetworkError } from '../../api/errors.ts'
import type { CallDescription } from '../../api/errors.ts'
import type { CallWatch } from '../../api/types.ts'
import type { Uplink } from './uplink.ts'

/**
 * - `question`: somebody waits for it, and it may be asked again (GET, a download).
 * - `change`: it may take its time, and is not given up while it may still be carried out (PUT, DELETE).
 */
export type CallKind = 'question' | 'change'

/** A call without a byte for so long raises doubt. */
const doubtAfterMs = 2_500
/** While the service is away, a question under way gets no more than this. */
const questionEndsAfterMs = 500
/** A change from before an absence that is silent for so long after it hangs on a dead connection. */
const changeEndsAfterMs = 5_000
/** A look this late says that the process stood still: silence was its own. */
const standstillMs = 2_000

export class CallUnderWay implements CallWatch {
  readonly description: CallDescription
  readonly kind: CallKind
  readonly #controller = new AbortController()
  readonly #onFailure: (error: unknown) => void
  readonly #clock: Clock
  readonly #uplink: Uplink
  seenAt: number
  longestSilentMs = 0
  hasRaisedDoubt = false
  /** It was under way while the service was away, and silent since. */
  isSuspect = false
  /** No reader asks for bytes at the moment. */
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

  /** Milliseconds; what our own uploads excuse does not count. */
  silentMs(since: number = this.seenAt): number {
    return this.isResting ? 0 : this.#uplink.silentMs(since)
  }

  /** All of its silence, also where our own uploads excuse it. */
  allSilentMs(now: number): number {
    return this.isResting ? 0 : now - this.seenAt
  }
}

export interface CallsUnderWayOptions {
  readonly clock: Clock
  readonly isAway: () => boolean
  readonly reason: () => string
  /** A call has been silent for long. */
  onSilent(): void
}

export class CallsUnderWay {
  readonly #options: CallsUnderWayOptions
  readonly #calls = new Set<CallUnderWay>()
  #timer: Timer | undefined
  #lookAt = Infinity

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
    this.#lookAt = Infinity
  }

  /** The service is away: who waits is told soon. */
  lost(): void {
    for (const call of this.#calls) if (call.kind === 'change') call.isSuspect = true
    this.#look()
  }

  /** An attempt failed: where the service is away, there is no second. */
  failed(call: CallUnderWay): void {
    if (this.#options.isAway() && call.kind === 'question') this.#end(call)
  }

  /** The service is there again: what hangs on a connection of before is found out. */
  found(): void {
    for (const call of this.#calls) if (call.isSuspect) call.seenAt = this.#options.clock.monotonic()
    this.#look()
  }

  /** Questions that have been silent for as long as raises doubt. */
  *silent(): Iterable<CallUnderWay> {
    for (const call of this.#calls)
      if (call.kind === 'question' && call.silentMs() >= doubtAfterMs) yield call
  }

  #schedule(at: number): void {
    if (at >= this.#lookAt) return
    this.#options.clock.clear(this.#timer)
    this.#lookAt = at
    const { clock } = this.#options
    this.#timer = clock.setTimeout(() => this.#rings(), Math.max(1, at - clock.monotonic())).unref()
  }

  #rings(): void {
    const now = this.#options.clock.monotonic()
    if (now - this.#lookAt > standstillMs) for (const call of this.#calls) call.seenAt = now
    this.#look()
  }

  #look(): void {
    this.#lookAt = Infinity
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

/** After how long a silence the call is ended (ms). */
function endsAfter({ kind, isSuspect }: CallUnderWay, isAway: boolean): number {
  if (kind === 'question') return isAway ? questionEndsAfterMs : Infinity
  return isSuspect && !isAway ? changeEndsAfterMs : Infinity
}
