// Write locks between the clients of this door (RFC 4918, section 6). In memory: after a restart nobody holds any, which a
// client learns by the 412 to its token. Knows paths, no nodes.

import { isAtOrUnder } from '../path.ts'

export interface Lock {
  readonly token: string
  /** The client that took it. */
  readonly client: string
  /** The locked resource. */
  readonly path: string
  readonly isShared: boolean
  /** With everything below. */
  readonly isDeep: boolean
  /** The client's words about its person: an element in XML, or empty. */
  readonly owner: string
  /** As it was asked for, at most `longestMs`. */
  readonly timeoutMs: number
}

export type LockWish = Omit<Lock, 'token'>

export const longestMs = 3_600_000
const maximumCount = 20_000

interface Held {
  readonly lock: Lock
  readonly endsAtMs: number
}

export class Locks {
  readonly #mostOfOne: number
  readonly #now: () => number
  readonly #held = new Map<string, Held>()

  /** `mostOfOne`: as many may one client hold. `now` in milliseconds, on a clock that only grows. */
  constructor(mostOfOne: number, now: () => number = () => performance.now()) {
    this.#mostOfOne = mostOfOne
    this.#now = now
  }

  /** The new lock, or the one that is in its way; `full` when the client, or nobody, may have more. */
  add(wish: LockWish): { lock: Lock } | { inTheWay: Lock } | 'full' {
    const held = this.#all()
    const inTheWay = held.find((other) => meets(other, wish) && !(other.isShared && wish.isShared))
    if (inTheWay !== undefined) return { inTheWay }
    const ofClient = held.reduce((count, { client }) => count + (client === wish.client ? 1 : 0), 0)
    if (ofClient >= this.#mostOfOne || held.length >= maximumCount) return 'full'
    const lock = { ...wish, token: `urn:uuid:${crypto.randomUUID()}` }
    this.#hold(lock)
    return { lock }
  }

  /** Begins its time anew; undefined where there is no such lock on the path. */
  refresh(path: string, token: string, timeoutMs: number | undefined): Lock | undefined {
    const lock = this.covering(path).find((other) => other.token === token)
    if (lock === undefined) return undefined
    const renewed = { ...lock, timeoutMs: timeoutMs ?? lock.timeoutMs }
    this.#hold(renewed)
    return renewed
  }

  /** False where no such lock covers the path. */
  remove(path: string, token: string): boolean {
    if (!this.covering(path).some((lock) => lock.token === token)) return false
    return this.#held.delete(token)
  }

  /** Of a resource that is gone, and of everything below it. */
  removeBelow(path: string): void {
    for (const { token } of this.rootedBelow(path)) this.#held.delete(token)
  }

  /** Those that hold for this resource. */
  covering(path: string): readonly Lock[] {
    return this.#all().filter((lock) => covers(lock, path))
  }

  /** Those of this resource itself and of anything below it. */
  rootedBelow(path: string): readonly Lock[] {
    return this.#all().filter((lock) => isAtOrUnder(lock.path, path))
  }

  #hold(lock: Lock): void {
    this.#held.set(lock.token, { lock, endsAtMs: this.#now() + lock.timeoutMs })
  }

  #all(): readonly Lock[] {
    const now = this.#now()
    for (const [token, { endsAtMs }] of this.#held) if (endsAtMs <= now) this.#held.delete(token)
    return Array.from(this.#held.values(), ({ lock }) => lock)
  }
}

function covers(lock: Pick<Lock, 'path' | 'isDeep'>, path: string): boolean {
  return lock.path === path || (lock.isDeep && isAtOrUnder(path, lock.path))
}

function meets(lock: LockWish, other: LockWish): boolean {
  return covers(lock, other.path) || covers(other, lock.path)
}
