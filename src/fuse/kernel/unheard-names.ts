// Names that another door changes, until the kernel has heard of it. Till then the kernel may hold such a name for the node it was
// before. A rename moves the kernel's own entry along with that node, where no later notification finds it: what a program then saves
// under the new name would go to a document that is gone.

interface Unheard {
  /** Changes of the name that the kernel has not heard of. */
  count: number
  /** Node of the kernel's last LOOKUP of the name since the first of them. */
  ino: number | undefined
}

export class UnheardNames {
  readonly #byName = new Map<string, Unheard>()

  /** The name changes; the kernel has heard of it once the function it returns is called. */
  begin(parent: number, name: string): () => void {
    const key = keyOf(parent, name)
    const unheard = this.#byName.get(key) ?? { count: 0, ino: undefined }
    unheard.count++
    this.#byName.set(key, unheard)
    return () => {
      if (--unheard.count === 0) this.#byName.delete(key)
    }
  }

  /** The kernel has asked for the name, and is told this node. */
  lookedUp(parent: number, name: string, ino: number | undefined): void {
    if (this.#byName.size === 0) return
    const unheard = this.#byName.get(keyOf(parent, name))
    if (unheard !== undefined) unheard.ino = ino
  }

  /** False if the kernel may know another node by this name. */
  knows(parent: number, name: string, ino: number): boolean {
    if (this.#byName.size === 0) return true
    const unheard = this.#byName.get(keyOf(parent, name))
    return unheard === undefined || unheard.ino === ino
  }
}

function keyOf(parent: number, name: string): string {
  return `${parent} ${name}`
}
