// Reach: the one state that says whether the service is there, shared by all code that calls it.
//
//   reachable ──(silence, half an answer, 502/503/504, a foreign page)──► doubtful
//       ▲  ▲                                                                │
//       │  └─────────────(any answer of the service)────────────────────────┤
//       │                                              (the probe has none) ▼
//       └──(a probe is answered)─────────────────────────────────────── away ◄──(no connection)── any
//
// While it is away only probes are sent, one at a time, and programs get the content on this machine.

import { abortable } from '../../abortable.ts'
import { doubledMs, type BackoffLimits } from '../../backoff.ts'
import { sleep, type Clock } from '../../world/clock.ts'
import type { Log } from '../../log.ts'
import type { Evidence } from './evidence.ts'

export type ReachState = 'reachable' | 'doubtful' | 'away'

export interface ReachOptions {
  /** Makes a call to the service, and gives up when no byte came for so long (ms). Never rejects. */
  probe(silentMs: number): Promise<{ evidence: Evidence; reason: string }>
  readonly log: Log
  readonly clock: Clock
  /** Returns a text that changes when this machine's network does. */
  networkState(): string
}

/** Called at a change with the new state and the one before. */
export type ReachListener = (state: ReachState, before: ReachState) => void

export interface Absence {
  /** Epoch ms. */
  readonly since: number
  readonly reason: string
}

/** Doubt ends after so long (ms), one way or the other. */
const longestDoubtMs = 2_500
const betweenDoubtsMs = 500
/** Time after an answered probe in which evidence that only raises doubt is ignored (ms). */
const trustMs = 1_000
const betweenProbes: BackoffLimits = { firstMs: 1_000, longestMs: 15_000 }
/** Silence after which a probe gives up while the service is away (ms): longer, since a slow service is there all the same. */
const probeSilentMs = 5_000
const betweenNetworkChecksMs = 1_000

export class Reach {
  readonly #options: ReachOptions
  readonly #clock: Clock
  readonly #listeners = new Set<ReachListener>()
  /** Called at each change, and at the close: each checks the condition that a call waits for. */
  readonly #waiting = new Set<() => void>()
  #state: ReachState = 'reachable'
  #absence: Absence | undefined
  /** True while probes are sent. */
  #isDeciding = false
  #doubtedAt = 0
  #trustedUntil = Number.NEGATIVE_INFINITY
  /** Ends the pause between two probes, if there is one. */
  #wake: () => void = () => {}
  #isClosed = false

  constructor(options: ReachOptions) {
    this.#options = options
    this.#clock = options.clock
  }

  get state(): ReachState {
    return this.#state
  }

  /** True while the service is away, and programs get the content on this machine. */
  get isAway(): boolean {
    return this.#state === 'away'
  }

  /** Since when the service is away, and why; undefined while it is not. */
  get absence(): Absence | undefined {
    return this.#absence
  }

  /** Calls the listener at every change, synchronously. Returns a function that stops this. */
  onChange(listener: ReachListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Resolves when the state is not 'doubtful' (any more). */
  async decided(): Promise<void> {
    await this.#until(() => this.#state !== 'doubtful' || this.#isClosed)
  }

  /** Resolves with the result of the work, or 'away' as soon as the service is; the work goes on all the same. */
  async unlessAway<T>(work: Promise<T>): Promise<T | 'away'> {
    const finished = new AbortController()
    const away = this.#until(() => this.isAway, finished.signal).then(() => 'away' as const)
    // Its rejection by `finished.abort()` means nothing.
    away.catch(() => {})
    try {
      return await Promise.race([work, away])
    } finally {
      finished.abort()
    }
  }

  /** Takes the evidence of a call's outcome; `reason` is shown to people if the service is away. */
  tell(evidence: Evidence, reason: string): void {
    switch (evidence) {
      case 'answer':
        this.#enter('reachable')
        return
      case 'no-connection':
        this.#lose(reason)
        return
      case 'doubt':
      case 'no-service':
        this.doubt()
        return
      case 'nothing':
    }
  }

  /** Enters the state 'doubtful', unless an answer is fresh, and lets a probe decide. */
  doubt(): void {
    if (this.#state !== 'reachable' || this.#isClosed || this.#clock.monotonic() < this.#trustedUntil) return
    this.#doubtedAt = this.#clock.monotonic()
    this.#enter('doubtful')
    this.#decide()
  }

  /** Ends the pause between two probes. */
  probeNow(): void {
    this.#wake()
  }

  close(): void {
    this.#isClosed = true
    this.#wake()
    // Waiting calls go on. Listeners are not called, since the state has not changed.
    for (const check of this.#waiting) check()
  }

  #lose(reason: string): void {
    if (this.#state === 'away') return
    this.#absence = { since: this.#clock.wall(), reason }
    this.#enter('away')
    this.#decide()
  }

  #enter(state: ReachState): void {
    const before = this.#state
    if (before === state || this.#isClosed) return
    const { log } = this.#options
    if (state === 'away')
      log.warn({ reason: this.#absence?.reason }, 'the service is away: the drive shows what it last knew')
    else if (before === 'away') {
      log.info({ awayMs: this.#clock.wall() - (this.#absence?.since ?? 0) }, 'the service is back')
      this.#absence = undefined
    }
    this.#state = state
    if (state === 'reachable') this.#wake()
    for (const listener of this.#listeners) listener(state, before)
    for (const check of this.#waiting) check()
  }

  /** Sends one probe after the other, until the service is there. */
  #decide(): void {
    if (this.#isDeciding || this.#isClosed) return
    this.#isDeciding = true
    void this.#probes().finally(() => {
      this.#isDeciding = false
      // The service may have been lost again in this very moment.
      if (this.#state !== 'reachable') this.#decide()
    })
  }

  async #probes(): Promise<void> {
    let pauses = 1
    while (this.#state !== 'reachable' && !this.#isClosed) {
      if (this.#state === 'away') {
        const hasChanged = await this.#pause(doubledMs(pauses, betweenProbes))
        pauses = hasChanged ? 1 : pauses + 1
        if (this.#isClosed) return
      }
      const leftMs = longestDoubtMs - (this.#clock.monotonic() - this.#doubtedAt)
      const silentMs = this.isAway ? probeSilentMs : Math.max(1, leftMs)
      const { evidence, reason } = await this.#options.probe(silentMs)
      if (evidence === 'answer') {
        this.#trustedUntil = this.#clock.monotonic() + trustMs
        this.#enter('reachable')
      } else if (this.#state === 'doubtful') {
        const isOver = this.#clock.monotonic() - this.#doubtedAt >= longestDoubtMs - betweenDoubtsMs
        if (evidence !== 'doubt' || isOver) this.#lose(reason)
        else await this.#sleep(betweenDoubtsMs)
      }
    }
  }

  /** True where the pause was ended by a change of the network, or by `probeNow`. */
  async #pause(ms: number): Promise<boolean> {
    const until = this.#clock.monotonic() + ms
    const before = this.#options.networkState()
    let isWoken = false
    const woken = new Promise<void>((resolve) => {
      this.#wake = () => {
        isWoken = true
        resolve()
      }
    })
    for (;;) {
      const leftMs = until - this.#clock.monotonic()
      if (leftMs <= 0) return false
      await Promise.race([woken, this.#sleep(Math.min(leftMs, betweenNetworkChecksMs))])
      if (isWoken || this.#options.networkState() !== before) return true
    }
  }

  #sleep(ms: number): Promise<void> {
    return sleep(this.#clock, ms, { idle: true })
  }

  async #until(isTrue: () => boolean, signal?: AbortSignal): Promise<void> {
    if (isTrue()) return
    let check = (): void => {}
    const holds = new Promise<void>((resolve) => {
      check = () => {
        if (isTrue()) resolve()
      }
    })
    this.#waiting.add(check)
    try {
      await (signal === undefined ? holds : abortable(holds, signal))
    } finally {
      this.#waiting.delete(check)
    }
  }
}
