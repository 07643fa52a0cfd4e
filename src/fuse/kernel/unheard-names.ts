// Names that were changed through WebDAV, until the kernel has taken the notification. Until then it may have the former node
// cached at such a name. If a program renames the name then, the kernel moves its cached entry to the new name, which no
// notification concerns, and a later save there would go to a document that is gone. `knows` lets the filesystem notice that.

interface Unheard {
  /** Number of changes that the kernel has not been notified of. */
  count: number
  /** Node of the kernel's latest LOOKUP of the name since the first of these changes; undefined if there was none. */
  ino: number | undefined
}

export class UnheardNames {
  readonly #byName = new Map<string, Unheard>()

  /** Records a change of the name. Returns a function to call when the kernel has been notified. */
  begin(parent: number, name: string): () => void {
    const key = keyOf(parent, name)
    const unheard = this.#byName.get(key) ?? { count: 0, ino: undefined }
    unheard.count++
    this.#byName.set(key, unheard)
    return () => {
      if (--unheard.count === 0) this.#byName.delete(key)
    }
  }

  /** Records that a LOOKUP of the name is answered with this node. */
  lookedUp(parent: number, name: string, ino: number | undefined): void {
    if (this.#byName.size === 0) return
    const unheard = this.#byName.get(keyOf(parent, name))
    if (unheard !== undefined) unheard.ino = ino
  }

  /** False if the kernel may have another node than `ino` cached at this name. */
  knows(parent: number, name: string, ino: number): boolean {
    if (this.#byName.size === 0) return true
    const unheard = this.#byName.get(keyOf(parent, name))
    return unheard === undefined || unheard.ino === ino
  }
}

function keyOf(parent: number, name: string): string {
  return `${parent} ${name}`
}
