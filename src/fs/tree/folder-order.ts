// The order of a folder's names in readdir. The position of a name never changes: a program may go back to it (seekdir), and
// the kernel may continue from it with another handle. So removed names leave a gap, and new names are appended.

/** Bytes of memory for a name here that is not shared with a node. */
export const orderedBytes = 48

export class FolderOrder {
  readonly #names: string[] = []

  get length(): number {
    return this.#names.length
  }

  /** Returns the name at a position; it may have been removed. */
  at(position: number): string | undefined {
    return this.#names[position]
  }

  /** Appends those of these names that are new. */
  take(names: readonly string[]): void {
    const known = new Set(this.#names)
    for (const name of names) if (!known.has(name)) this.#names.push(name)
  }
}
