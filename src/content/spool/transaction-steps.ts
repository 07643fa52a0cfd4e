// Steps in memory that belong to a transaction of the journal: some run after its commit, others undo changes if it fails.

import type { Undo } from './undo.ts'

type Step = () => void

export class TransactionSteps {
  /** Steps after the commit, in this order. */
  #after: Step[] = []
  /** Steps that undo changes in memory, made in reliance on the transaction. */
  #undo: Step[] = []
  /** Objects with a snapshot among `#undo`: a later one would not be of the state before the transaction. */
  readonly #snapshotted = new Set<Undo>()

  afterCommit(step: Step): void {
    this.#after.push(step)
  }

  /** Of an object, only the first snapshot counts. */
  onRollback(undo: Undo): void {
    if (this.#snapshotted.has(undo)) return
    if (typeof undo === 'function') {
      this.#undo.push(undo)
      return
    }
    this.#snapshotted.add(undo)
    this.#undo.push(undo.snapshot())
  }

  /** Ends the transaction as committed; returns the steps to run now. */
  committed(): readonly Step[] {
    return this.#end().after
  }

  /** Ends the transaction as failed; returns the undo steps to run now, the latest first. */
  rolledBack(): readonly Step[] {
    return this.#end().undo.toReversed()
  }

  #end(): { after: Step[]; undo: Step[] } {
    const ended = { after: this.#after, undo: this.#undo }
    this.#after = []
    this.#undo = []
    this.#snapshotted.clear()
    return ended
  }
}
