// State in memory that is as it was before when a transaction of the journal fails, whoever changed it (not the user's undo:
// content/undo).

import { isFirstChange, isInTransaction, onRollback } from './transaction-steps.ts'

/** An object whose whole state is one value that never changes: each change sets another. */
export abstract class Undoable<State extends object> {
  #now: State

  constructor(initial: State) {
    this.#now = initial
  }

  protected get now(): State {
    return this.#now
  }

  protected alter(change: Partial<State>): void {
    if (isFirstChange(this)) {
      const before = this.#now
      onRollback(() => void (this.#now = before))
    }
    this.#now = { ...this.#now, ...change }
  }
}

/** An entry that was removed comes back as the last. */
export class UndoableMap<K, V> extends Map<K, V> {
  override set(key: K, value: V): this {
    noteEntry(this, key)
    return super.set(key, value)
  }

  override delete(key: K): boolean {
    noteEntry(this, key)
    return super.delete(key)
  }

  override clear(): void {
    for (const key of this.keys()) this.delete(key)
  }
}

export class UndoableSet<T> extends Set<T> {
  override add(value: T): this {
    noteMember(this, value)
    return super.add(value)
  }

  override delete(value: T): boolean {
    noteMember(this, value)
    return super.delete(value)
  }

  override clear(): void {
    for (const value of this) this.delete(value)
  }
}

function noteEntry<K, V>(map: Map<K, V>, key: K): void {
  if (!isInTransaction()) return
  const [had, before] = [map.has(key), map.get(key) as V]
  onRollback(() => void (had ? map.set(key, before) : map.delete(key)))
}

function noteMember<T>(set: Set<T>, value: T): void {
  if (!isInTransaction()) return
  const had = set.has(value)
  onRollback(() => void (had ? set.add(value) : set.delete(value)))
}
