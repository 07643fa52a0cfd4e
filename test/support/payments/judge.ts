// Precision, recall and F1 of matches against the truth, summed over statements.

/** Per payment: the index of its matched invoice; undefined if it has none. */
export type Matches = readonly (number | undefined)[]

export class Tally {
  #right = 0
  #matched = 0
  #payable = 0

  add(matches: Matches, truth: Matches): this {
    for (const [at, invoice] of truth.entries()) {
      if (invoice !== undefined) this.#payable++
      if (matches[at] === undefined) continue
      this.#matched++
      if (matches[at] === invoice) this.#right++
    }
    return this
  }

  /** Share of correct matches in all matches, 0 … 1; 1 if there are none. */
  get precision(): number {
    return this.#matched === 0 ? 1 : this.#right / this.#matched
  }

  /** Share of payments with an invoice that were matched with it, 0 … 1. */
  get recall(): number {
    return this.#payable === 0 ? 1 : this.#right / this.#payable
  }

  get f1(): number {
    const { precision, recall } = this
    return precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall)
  }
}
