// Modification times that a program has set, of documents that were not changed since: they stay, through renames and restarts.

import { isAtOrUnder } from '../../src/path.ts'
import { Loss } from './loss.ts'
import { isLocalOnly, type Operation } from './model.ts'

interface SetTime {
  readonly mtimeNs: bigint
  /** When it was set, or its document moved (ms). */
  readonly at: number
}

export class SetTimes {
  readonly #times = new Map<string, SetTime>()

  set(path: string, mtimeSec: number, at: number): void {
    if (!isLocalOnly(path)) this.#times.set(path, { mtimeNs: BigInt(mtimeSec) * 1_000_000_000n, at })
  }

  forget(path: string): void {
    this.#times.delete(path)
  }

  /** It was done at `at` (ms). A document that is renamed keeps its time; a file that is on this machine only does not. */
  done(operation: Operation, at: number): void {
    if (operation.kind !== 'rename') return this.changed(operation)
    const { path, to } = operation
    const moved = [...this.#times].filter(([other]) => isAtOrUnder(other, path))
    this.changed(operation)
    for (const [other, { mtimeNs }] of moved) {
      const place = to + other.slice(path.length)
      if (!isLocalOnly(place)) this.#times.set(place, { mtimeNs, at })
    }
  }

  /** Drops the times of documents that the operation may have changed. */
  changed(operation: Operation): void {
    const changed = operation.kind === 'rename' ? [operation.path, operation.to] : [operation.path]
    for (const path of this.#times.keys())
      if (changed.some((each) => isAtOrUnder(path, each))) this.#times.delete(path)
  }

  /** Drops the times set after `since` (ms): a power cut may have taken them back. */
  forgetSince(since: number): void {
    for (const [path, { at }] of this.#times) if (at >= since) this.#times.delete(path)
  }

  /** Throws a Loss where a document shows another time than was set. */
  check(what: string, path: string, mtimeNs: bigint): void {
    const wanted = this.#times.get(path)?.mtimeNs
    if (wanted !== undefined && wanted !== mtimeNs)
      throw new Loss(`${what}: ${path} shows the time ${seconds(mtimeNs)}, and ${seconds(wanted)} was set`)
  }
}

function seconds(ns: bigint): string {
  return `${Number(ns / 1_000_000n) / 1_000}`
}
