// The one notion of whether the service is there, shared by everything that asks it.
//
//   reachable ──(silence, half an answer, 502/503/504, a foreign page)──► doubtful
//       ▲  ▲                                                                │
//       │  └─────────────(any answer of the service)────────────────────────┤
//       │                                              (the probe has none) ▼
//       └──(a probe is answered)─────────────────────────────────────── away ◄──(no connection)── any
//
// While it is away nothing is sent but one probe, and everybody is answered from what is here.

import { abortable } from '../../abortable.ts'
import { doubledMs, type BackoffLimits } from '../../backoff.ts'
import { sleep, type Clock } from '../../world/clock.ts'
import type { Log } from '../../log.ts'
import type { Evidence } from './evidence.ts'

export type ReachState = 'reachable' | 'doubtful' | 'away'

export interface ReachOptions {
  /** Asks the service for anything, and gives up when no byte came for so long (ms). Never rejects. */
  probe(silentMs: number): Promise<{ evidence: Evidence; reason: string }>
  readonly log: Log
  readonly clock: Clock
  /** Changes when this machine's network does. */
  networkState(): string
}

/** Told what it is from now on, and what it was. */
export type ReachListener = (state: ReachState, before: ReachState) => void

export interface Absence {
  /** Epoch ms. */
  readonly since: number
  readonly reason: string
}

/** Doubt is over after so long, one way or the other. */
const longestDoubtMs = 2_500
const betweenDoubtsMs = 500
/** After a probe was answered, what only raises doubt says nothing new for a moment. */
const trustMs = 1_000
const betweenProbes: BackoffLimits = { firstMs: 1_000, longestMs: 15_000 }
/** A probe in the dark waits longer: a slow service is there all the same. */
const probeSilentMs = 5_000
const lookAtNetworkMs = 1_000

export class Reach {
  readonly #options: ReachOptions
  readonly #clock: Clock
  readonly #listeners = new Set<ReachListener>()
  /** Each looks whether what it waits for is true. */
  readonly #waiting = new Set<() => void>()
  #state: ReachState = 'reachable'
  #absence: Absence | undefined
  #isDeciding = false
  #doubtedAt = 0
  #trustedUntil = Number.NEGATIVE_INFINITY
  #wake: () => void = () => {}
  #isClosed = false

  constructor(options: ReachOptions) {
    this.#options = options
    this.#clock = options.clock
  }

  get state(): ReachState {
    return this.#state
  }

  /** True while everything is answered from what is here. */
  get isAway(): boolean {
    return this.#state === 'away'
  }

  /** Since when it is away, and why. */
  get absence(): Absence | undefined {
    return this.#absence
  }

  /** Called at every change, at once. Answers how to stop listening. */
  onChange(listener: ReachListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Resolves when doubt is over. */
  async decided(): Promise<void> {
    await this.#until(() => this.#state !== 'doubtful' || this.#isClosed)
  }

  /** The outcome of the work, or 'away' as soon as the service is: the work goes on all the same. */
  async unlessAway<T>(work: Promise<T>): Promise<T | 'away'> {
    const over = new AbortController()
    const away = this.#until(() => this.isAway, over.signal).then(() => 'away' as const)
    // Ended by us.
    away.catch(() => {})
    try {
      return await Promise.race([work, away])
    } finally {
      over.abort()
    }
  }

  /** A call says how it went. */
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

  /** Something does not answer as it should: the probe finds out. */
  doubt(): void {
    if (this.#state !== 'reachable' || this.#isClosed || this.#clock.monotonic() < this.#trustedUntil) return
    this.#doubtedAt = this.#clock.monotonic()
    this.#enter('doubtful')
    this.#decide()
  }

  /** Asks now, whatever the pause. */
  probeNow(): void {
    this.#wake()
  }

  close(): void {
    this.#isClosed = true
    this.#wake()
    // Waiting calls go on; listeners hear nothing, since nothing has changed for them.
    for (const look of this.#waiting) look()
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
    for (const look of this.#waiting) look()
  }

  /** One probe after the other, until the service is there. */
  #decide(): void {
    if (this.#isDeciding || this.#isClosed) return
    this.#isDeciding = true
    void this.#probes().finally(() => {
      this.#isDeciding = false
      // Lost again in the very moment it was found.
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

  /** True when the wait was ended by a change of the network, or because somebody asks. */
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
      await Promise.race([woken, this.#sleep(Math.min(leftMs, lookAtNetworkMs))])
      if (isWoken || this.#options.networkState() !== before) return true
    }
  }

  #sleep(ms: number): Promise<void> {
    return sleep(this.#clock, ms, { idle: true })
  }

  async #until(isTrue: () => boolean, signal?: AbortSignal): Promise<void> {
    if (isTrue()) return
    let look = (): void => {}
    const holds = new Promise<void>((resolve) => {
      look = () => {
        if (isTrue()) resolve()
      }
    })
    this.#waiting.add(look)
    try {
      await (signal === undefined ? holds : abortable(holds, signal))
    } finally {
      this.#waiting.delete(look)
    }
  }
}
