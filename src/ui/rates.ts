// How fast things are sent, from what was seen of them lately. No clock, no words.

import type { Unsent } from '../fs/status.ts'

interface Sample {
  readonly atMs: number
  /** By `keyOf`: how much of it is sent, of how much. */
  readonly sent: ReadonlyMap<string, { readonly sent: number; readonly of: number }>
}

/** The rate is that of the last seconds. */
const windowMs = 5_000
const shortestMs = 400

/** Sending rates of one drive. */
export class Rates {
  #samples: Sample[] = []

  /** Takes a sample of the unsent changes at this time (ms of a steady clock). */
  note(unsent: readonly Unsent[], atMs: number): void {
    const sent = new Map(
      unsent.map((change) => [
        keyOf(change),
        { sent: Math.min(change.sentBytes, change.bytes), of: change.bytes },
      ]),
    )
    this.#samples.push({ atMs, sent })
    while (this.#samples.length > 2 && atMs - (this.#samples[1]?.atMs ?? atMs) >= windowMs)
      this.#samples.shift()
  }

  /** Of one change, in bytes per second. */
  of(change: Unsent): number | undefined {
    const key = keyOf(change)
    const first = this.#samples.find(({ sent }) => sent.has(key))
    const last = this.#samples.at(-1)
    if (first === undefined || last === undefined || last.atMs - first.atMs < shortestMs) return undefined
    const bytes = (last.sent.get(key)?.sent ?? 0) - (first.sent.get(key)?.sent ?? 0)
    return Math.max(0, (bytes * 1000) / (last.atMs - first.atMs))
  }

  /** Of everything: what went meanwhile counts whole. */
  get all(): number | undefined {
    const [first] = this.#samples
    const last = this.#samples.at(-1)
    if (first === undefined || last === undefined || last.atMs - first.atMs < shortestMs) return undefined
    let bytes = 0
    for (const [index, { sent }] of this.#samples.slice(1).entries()) {
      for (const [key, before] of this.#samples[index]?.sent ?? []) {
        const now = sent.get(key)
        bytes += Math.max(0, (now?.sent ?? before.of) - before.sent)
      }
    }
    return (bytes * 1000) / (last.atMs - first.atMs)
  }
}

function keyOf({ path, since, action }: Unsent): string {
  return `${action} ${since} ${path}`
}
