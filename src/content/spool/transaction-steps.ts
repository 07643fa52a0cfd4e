// Steps in memory that belong to a transaction of the journal: some run after its commit, others undo changes if it fails.

type Step = () => void

interface Steps {
  /** Steps after the commit, in this order. */
  readonly after: Step[]
  /** Steps that undo changes in memory, made in reliance on the transaction. */
  readonly undo: Step[]
  /** Things whose state before the transaction is among `undo`: a later one would be of the middle of it. */
  readonly noted: Set<object>
}

/** A transaction is synchronous, so there is one at most in the process: each change in memory meanwhile belongs to it. */
let underWay: Steps | undefined

export class TransactionSteps {
  #steps: Steps | undefined

  get isUnderWay(): boolean {
    return this.#steps !== undefined
  }

  begin(): void {
    this.#steps = { after: [], undo: [], noted: new Set() }
    underWay = this.#steps
  }

  afterCommit(step: Step): void {
    this.#steps?.after.push(step)
  }

  /** Ends the transaction as committed; returns the steps to run now. */
  committed(): readonly Step[] {
    return this.#end()?.after ?? []
  }

  /** Ends the transaction as failed; returns the undo steps to run now, the latest first. */
  rolledBack(): readonly Step[] {
    return this.#end()?.undo.toReversed() ?? []
  }

  #end(): Steps | undefined {
    const ended = this.#steps
    this.#steps = undefined
    underWay = undefined
    return ended
  }
}

/** Runs `undo` if the transaction under way is rolled back, the latest first; without one there is nothing to undo. */
export function onRollback(undo: Step): void {
  underWay?.undo.push(undo)
}

export function isInTransaction(): boolean {
  return underWay !== undefined
}

/** True where a transaction is under way that changes this thing for the first time. */
export function isFirstChange(thing: object): boolean {
  if (underWay === undefined || underWay.noted.has(thing)) return false
  underWay.noted.add(thing)
  return true
}
