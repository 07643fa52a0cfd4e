// Request rates of each API key and each client address, shared between the nodes of a service that has several.

import { setInterval as every } from 'node:timers/promises'
import type { Log } from '../../log.ts'
import type { Limits } from '../limits.ts'
import { type Tally, TokenBuckets } from './token-buckets.ts'

const shareMs = 1_000

export class RequestRates {
  readonly keys: TokenBuckets
  readonly addresses: TokenBuckets

  constructor({ requestsPerSecondPerKey, requestsPerSecondPerAddress }: Limits) {
    this.keys = new TokenBuckets(requestsPerSecondPerKey)
    this.addresses = new TokenBuckets(requestsPerSecondPerAddress)
  }

  /** Shares the counts with other nodes until `signal` aborts. While that fails, this node counts alone. */
  async share(tallies: Tallies, log: Log, signal: AbortSignal): Promise<void> {
    let hasFailed = false
    try {
      for await (const _ of every(shareMs, undefined, { signal, ref: false })) {
        try {
          await this.keys.share(tallies.keys)
          await this.addresses.share(tallies.addresses)
          hasFailed = false
        } catch (error) {
          if (!hasFailed) log.warn({ error }, 'limits are this node’s own until the database answers')
          hasFailed = true
        }
      }
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }
}

export interface Tallies {
  readonly keys: Tally
  readonly addresses: Tally
}
