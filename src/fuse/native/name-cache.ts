// A cache from names to nodes, like the kernel's dentries, for a driver that gets paths. It has one reference on each node. The
// key is the folder's node and the name, so that renaming a folder moves everything below it at once.

import type { Entry, Operations } from '../../fs/operations.ts'

interface CachedName {
  readonly ino: number
  readonly validUntilMs: number
}

export class NameCache {
  readonly #operations: Operations
  readonly #capacity: number
  readonly #maximumTtlMs: number
  /** In order of use, oldest first. */
  readonly #known = new Map<string, CachedName>()
  #changes = 0

  constructor(operations: Operations, options: { capacity: number; maximumTtlMs: number }) {
    this.#operations = operations
    this.#capacity = options.capacity
    this.#maximumTtlMs = options.maximumTtlMs
  }

  get size(): number {
    return this.#known.size
  }

  /** Number of invalidations so far: the result of a lookup that began before one must not be cached after it. */
  get changes(): number {
    return this.#changes
  }

  get(parent: number, name: string): number | undefined {
    const key = keyOf(parent, name)
    const known = this.#known.get(key)
    if (known === undefined || known.validUntilMs <= performance.now()) return undefined
    this.#known.delete(key)
    this.#known.set(key, known)
    return known.ino
  }

  /** Caches a name, and takes over the reference that came with `entry`. */
  put(parent: number, name: string, entry: Entry): void {
    const key = keyOf(parent, name)
    const before = this.#known.get(key)
    const ttlMs = Math.min(entry.entryTtlMs, this.#maximumTtlMs)
    this.#known.delete(key)
    this.#known.set(key, { ino: entry.attributes.ino, validUntilMs: performance.now() + ttlMs })
    if (before !== undefined) this.#operations.forget(before.ino, 1)
    if (this.#known.size > this.#capacity) this.#evictOldest()
  }

  drop(parent: number, name: string): void {
    this.#changes++
    const key = keyOf(parent, name)
    const known = this.#known.get(key)
    if (known === undefined) return
    this.#known.delete(key)
    this.#operations.forget(known.ino, 1)
  }

  clear(): void {
    this.#changes++
    for (const { ino } of this.#known.values()) this.#operations.forget(ino, 1)
    this.#known.clear()
  }

  #evictOldest(): void {
    for (const [key, { ino }] of this.#known) {
      this.#known.delete(key)
      this.#operations.forget(ino, 1)
      return
    }
  }
}

function keyOf(parent: number, name: string): string {
  return `${parent}/${name}`
}
