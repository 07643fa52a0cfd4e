// The service's troubles: one fault after another, drawn by chance, for a moment each.

import type { Fault, FaultTarget } from '../support/faults/fault.ts'
import type { TestService } from '../support/service.ts'
import type { Chance } from './chance.ts'

interface Trouble {
  readonly fault: Fault
  readonly target: FaultTarget
}

/** The oldest listing a fault hands out: less than the drive's time to live, which is the staleness it allows for. */
export const oldestListingMs = 800

export class Troublemaker {
  readonly #testService: TestService
  readonly #chance: Chance
  #now: Trouble | undefined
  #hits = 0
  #hitsBefore = 0
  #timer: NodeJS.Timeout | undefined
  #isOff = true
  /** How many bodies run in peace. */
  #spared = 0

  constructor(testService: TestService, chance: Chance) {
    this.#testService = testService
    this.#chance = chance
    testService.service.faults.random = chance.random
  }

  /** Requests that met a fault so far. */
  get hits(): number {
    return this.#hits + this.#testService.service.faults.hits - this.#hitsBefore
  }

  begin(): void {
    this.#isOff = false
    this.#next()
  }

  end(): void {
    this.#isOff = true
    clearTimeout(this.#timer)
    this.#testService.service.faults.clear()
  }

  /** Does something in peace: nobody else's requests meet our troubles. */
  async without<T>(body: () => Promise<T>): Promise<T> {
    this.#spared++
    this.#testService.service.faults.clear()
    try {
      return await body()
    } finally {
      this.#spared--
      this.#inject()
    }
  }

  #inject(): void {
    if (this.#isOff || this.#spared > 0 || this.#now === undefined) return
    this.#testService.service.faults.inject(this.#now.fault, this.#now.target)
  }

  #next(): void {
    this.#testService.service.faults.clear()
    this.#now = this.#draw()
    this.#inject()
    this.#timer = setTimeout(() => this.#next(), 100 + this.#chance.below(600))
  }

  #draw(): Trouble | undefined {
    const { below, pick, random } = this.#chance
    const target = { probability: 0.1 + 0.4 * random() }
    const change = { ...target, endpoint: 'files', method: pick(['PUT', 'DELETE']) } as const
    const anyCall = { ...target, endpoint: 'files' } as const
    const troubles: readonly (() => Trouble | undefined)[] = [
      () => undefined,
      () => ({ fault: { kind: 'status', status: pick([500, 502, 503]) }, target: anyCall }),
      () => ({ fault: { kind: 'status', status: 500 }, target: { ...target, endpoint: 'download' } }),
      () => ({ fault: { kind: 'status', status: 429, retryAfter: below(2) }, target: anyCall }),
      () => ({ fault: { kind: 'error-after-commit' }, target: change }),
      () => ({ fault: { kind: 'error-after-commit', status: 409 }, target: { ...change, method: 'PUT' } }),
      () => ({ fault: { kind: 'lost-answer' }, target: change }),
      () => ({ fault: { kind: 'lost-answer' }, target: anyCall }),
      () => ({
        fault: { kind: 'cut-request', afterBytes: below(5_000) },
        target: { ...target, method: 'PUT' },
      }),
      () => ({ fault: { kind: 'cut-response', afterBytes: below(400) }, target }),
      () => ({ fault: { kind: 'slow-drip', bytesPerSecond: 20_000 }, target }),
      () => ({ fault: { kind: 'expired-url' }, target: { endpoint: 'download', times: 1 } }),
      () => ({ fault: { kind: 'ignore-range' }, target: { ...target, endpoint: 'download' } }),
      () => ({
        fault: { kind: 'stale-listing', ageMs: below(oldestListingMs) },
        target: { ...target, method: 'GET' },
      }),
      () => ({ fault: { kind: 'latency', ms: below(300) }, target }),
      () => ({ fault: { kind: 'refuse-uri' }, target: { ...target, method: 'PUT' } }),
    ]
    return pick(troubles)()
  }
}
