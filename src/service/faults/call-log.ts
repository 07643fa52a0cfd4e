// Every request in order of arrival, as tests and benchmarks count them. Bounded: the oldest go first.

import type { Call } from '../contract.ts'

const maxCalls = 1_000_000

export class CallLog {
  readonly calls: Call[] = []

  add(call: Call): void {
    if (this.calls.length >= maxCalls) this.calls.splice(0, maxCalls / 10)
    this.calls.push(call)
  }

  clear(): void {
    this.calls.length = 0
  }
}
