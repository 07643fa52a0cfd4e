// Rows of the journal that ended a moment ago. Until that is on disk a power cut brings them back, and they would meet what took
// their place: who sends that waits for the disk first.

export class EndedRows {
  readonly #onceDurable: (step: () => void) => void
  /** By path and by spool file; each with its latest end. */
  readonly #ends = new Map<string, symbol>()

  constructor(onceDurable: (step: () => void) => void) {
    this.#onceDurable = onceDurable
  }

  /** A row that named these paths, and this spool file, ends with the transaction under way. */
  ended(paths: readonly string[], spool: string | undefined): void {
    const keys = spool === undefined ? paths : [...paths, spool]
    const end = Symbol('end')
    for (const key of keys) this.#ends.set(key, end)
    this.#onceDurable(() => {
      for (const key of keys) if (this.#ends.get(key) === end) this.#ends.delete(key)
    })
  }

  /** True where a power cut may bring back a row that named one of them. */
  mayReturn(paths: readonly string[], spool: string | undefined): boolean {
    return paths.some((path) => this.#ends.has(path)) || (spool !== undefined && this.#ends.has(spool))
  }
}
