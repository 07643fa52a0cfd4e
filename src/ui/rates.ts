// Upload rates, computed from samples of the last seconds. Pure: the caller passes the time.

import type { Unsent } from '../fs/status.ts'

interface Sample {
  readonly atMs: number
  /** Bytes sent so far and in total, by `keyOf` of the change. */
  readonly sent: ReadonlyMap<string, { readonly sent: number; readonly total: number }>
}

/** Rates are averages over this time, and undefined for less than `shortestMs`. */
const windowMs = 5_000
const shortestMs = 400

/** Sending rates of one drive. */
export class Rates {
  #samples: Sample[] = []

  /** Takes a sample of the unsent changes at this time (ms of a steady clock). */
  add(unsent: readonly Unsent[], atMs: number): void {
    const sent = new Map(
      unsent.map((change) => [
        keyOf(change),
        { sent: Math.min(change.sentBytes, change.bytes), total: change.bytes },
      ]),
    )
    this.#samples.push({ atMs, sent })
    while (this.#samples.length > 2 && atMs - (this.#samples[1]?.atMs ?? atMs) >= windowMs)
      this.#samples.shift()
  }

  /** Returns the rate of one change, in bytes per second; undefined without enough samples. */
  rateOf(change: Unsent): number | undefined {
    const key = keyOf(change)
    const first = this.#samples.find(({ sent }) => sent.has(key))
    const last = this.#samples.at(-1)
    if (first === undefined || last === undefined || last.atMs - first.atMs < shortestMs) return undefined
    const bytes = (last.sent.get(key)?.sent ?? 0) - (first.sent.get(key)?.sent ?? 0)
    return Math.max(0, (bytes * 1000) / (last.atMs - first.atMs))
  }

  /** Rate of all changes, in bytes per second. A change that disappeared between two samples counts as sent whole. */
  get totalRate(): number | undefined {
    const [first] = this.#samples
    const last = this.#samples.at(-1)
    if (first === undefined || last === undefined || last.atMs - first.atMs < shortestMs) return undefined
    let bytes = 0
    for (const [index, { sent }] of this.#samples.slice(1).entries()) {
      for (const [key, before] of this.#samples[index]?.sent ?? []) {
        const now = sent.get(key)
        bytes += Math.max(0, (now?.sent ?? before.total) - before.sent)
      }
    }
    return (bytes * 1000) / (last.atMs - first.atMs)
  }
}

function keyOf({ path, since, action }: Unsent): string {
  return `${action} ${since} ${path}`
}
