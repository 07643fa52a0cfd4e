// Paths of which something was written to the cache folder a moment ago: what is stored there next may be told from that by nothing,
// with a service that tells time by the second, or by two.

import type { Clock } from '../../world/clock.ts'
import { pathKeyInName } from './stored-version.ts'

const lookAlikeMs = 2_000

export class RecentWrites {
  readonly #clock: Clock
  /** When (ms, monotonic); the longest ago first. */
  readonly #paths = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** A segment's file was written, or has this name now. */
  add(name: string): void {
    const now = this.#clock.monotonic()
    for (const [pathKey, at] of this.#paths) {
      if (at > now - lookAlikeMs) break
      this.#paths.delete(pathKey)
    }
    const pathKey = pathKeyInName(name) ?? ''
    this.#paths.delete(pathKey)
    this.#paths.set(pathKey, now)
  }

  /** For how long from now (ms) something counts as just written. */
  restMs(pathKey: string): number {
    return (this.#paths.get(pathKey) ?? -Infinity) + lookAlikeMs - this.#clock.monotonic()
  }

  /** Tells, whenever it is asked, whether something was written of a path since a moment before now. */
  sinceNow(pathKey: string): () => boolean {
    const since = this.#clock.monotonic() - lookAlikeMs
    return () => (this.#paths.get(pathKey) ?? -Infinity) > since
  }
}
