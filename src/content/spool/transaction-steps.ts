// Steps in memory that go with a transaction of the journal: done once it is on disk, undone where it fails.

import type { Undo } from './undo.ts'

type Step = () => void

export class TransactionSteps {
  /** Done once the transaction is on disk, in this order. */
  #after: Step[] = []
  /** Done on the strength of it, each with what takes it back. */
  #undo: Step[] = []
  /** Things that are put back as a whole already: each was like that before any later step. */
  readonly #remembered = new Set<Undo>()

  afterCommit(step: Step): void {
    this.#after.push(step)
  }

  onRollback(undo: Undo): void {
    if (this.#remembered.has(undo)) return
    if (typeof undo === 'function') {
      this.#undo.push(undo)
      return
    }
    this.#remembered.add(undo)
    this.#undo.push(undo.snapshot())
  }

  /** It is on disk: what is to be done now. */
  committed(): readonly Step[] {
    return this.#end().after
  }

  /** It failed: what takes back what was done, the latest first. */
  rolledBack(): readonly Step[] {
    return this.#end().undo.toReversed()
  }

  #end(): { after: Step[]; undo: Step[] } {
    const ended = { after: this.#after, undo: this.#undo }
    this.#after = []
    this.#undo = []
    this.#remembered.clear()
    return ended
  }
}
