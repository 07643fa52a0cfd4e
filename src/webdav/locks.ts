// Write locks between the clients of the WebDAV server (RFC 4918, section 6), by path. They are in memory: a restart drops them, and a
// client gets 412 for its old token.

import { isAtOrUnder } from '../path.ts'

export interface Lock {
  readonly token: string
  /** Address of its client. */
  readonly client: string
  /** The locked resource. */
  readonly path: string
  readonly isShared: boolean
  /** True if it covers everything below, too. */
  readonly isDeep: boolean
  /** The client's `owner` element in XML, or empty. */
  readonly owner: string
  /** Lifetime as requested, at most `longestMs`. */
  readonly timeoutMs: number
}

export type LockRequest = Omit<Lock, 'token'>

export const longestMs = 3_600_000
const maximumCount = 20_000

interface Held {
  readonly lock: Lock
  readonly endsAtMs: number
}

export class Locks {
  readonly #maxPerClient: number
  readonly #now: () => number
  readonly #held = new Map<string, Held>()

  /** `maxPerClient`: most locks of one client. `now`: milliseconds of a monotonic clock. */
  constructor(maxPerClient: number, now: () => number = () => performance.now()) {
    this.#maxPerClient = maxPerClient
    this.#now = now
  }

  /** Returns the new lock, or one that conflicts with it; `full` at the limit of the client, or of all. */
  add(wish: LockRequest): { lock: Lock } | { inTheWay: Lock } | 'full' {
    const held = this.#all()
    const inTheWay = held.find((other) => meets(other, wish) && !(other.isShared && wish.isShared))
    if (inTheWay !== undefined) return { inTheWay }
    const ofClient = held.reduce((count, { client }) => count + (client === wish.client ? 1 : 0), 0)
    if (ofClient >= this.#maxPerClient || held.length >= maximumCount) return 'full'
    const lock = { ...wish, token: `urn:uuid:${crypto.randomUUID()}` }
    this.#hold(lock)
    return { lock }
  }

  /** Restarts a lock's lifetime; without `timeoutMs` it is as long as before. Returns undefined if no such lock covers the path. */
  refresh(path: string, token: string, timeoutMs: number | undefined): Lock | undefined {
    const lock = this.covering(path).find((other) => other.token === token)
    if (lock === undefined) return undefined
    const renewed = { ...lock, timeoutMs: timeoutMs ?? lock.timeoutMs }
    this.#hold(renewed)
    return renewed
  }

  /** Removes a lock. False if no such lock covers the path. */
  remove(path: string, token: string): boolean {
    if (!this.covering(path).some((lock) => lock.token === token)) return false
    return this.#held.delete(token)
  }

  /** Removes the locks of a resource that is gone, and of everything below it. */
  removeBelow(path: string): void {
    for (const { token } of this.rootedBelow(path)) this.#held.delete(token)
  }

  /** Returns the locks that cover this resource. */
  covering(path: string): readonly Lock[] {
    return this.#all().filter((lock) => covers(lock, path))
  }

  /** Returns the locks taken on this resource itself, or on anything below it. */
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

function meets(lock: LockRequest, other: LockRequest): boolean {
  return covers(lock, other.path) || covers(other, lock.path)
}
