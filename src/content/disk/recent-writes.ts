// Paths of which blocks were just written to the cache folder. A version stored within the next two seconds may have the same
// fingerprint, with a service that gives times in whole seconds, or in steps of two, and must not be read from those blocks.

import type { Clock } from '../../world/clock.ts'
import { pathKeyInName } from './stored-version.ts'

const lookAlikeMs = 2_000

export class RecentWrites {
  readonly #clock: Clock
  /** Time of the last write (ms, monotonic) by path key; oldest first. */
  readonly #paths = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Notes that the segment file of this name was written, or got this name. */
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

  /** Time for which the path still counts as just written (ms). */
  restMs(pathKey: string): number {
    return (this.#paths.get(pathKey) ?? -Infinity) + lookAlikeMs - this.#clock.monotonic()
  }

  /** Returns a function that is true if blocks of the path were written less than two seconds before now, or later. */
  sinceNow(pathKey: string): () => boolean {
    const since = this.#clock.monotonic() - lookAlikeMs
    return () => (this.#paths.get(pathKey) ?? -Infinity) > since
  }
}
