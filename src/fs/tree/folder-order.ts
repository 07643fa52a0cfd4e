// The order a folder's names are told in. A place in it, once told, stays that name's: a program goes back to it (seekdir),
// and the kernel goes on from it with another handle. So names that go leave a gap, and those that come stand behind.

/** Bytes that a name takes here, where no node has it too. */
export const orderedBytes = 48

export class FolderOrder {
  readonly #names: string[] = []

  get length(): number {
    return this.#names.length
  }

  /** The name at a place; it may be gone meanwhile. */
  at(place: number): string | undefined {
    return this.#names[place]
  }

  /** These are the names now. */
  take(names: readonly string[]): void {
    const known = new Set(this.#names)
    for (const name of names) if (!known.has(name)) this.#names.push(name)
  }
}
