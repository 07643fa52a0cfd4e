// The door part of a node: the references and handles that the door (the kernel) holds, and the content and record it was
// shown.

export class DoorPart {
  #lookups = 0
  #openHandles = 0
  #writeHandles = 0
  /** Grows when the content changes without a call of the door. */
  #contentGeneration = 0
  /** The content generation of the pages that the door has cached. */
  #shownGeneration = -1

  /** The record that was shown to programs so often that `tree.seen` learns nothing from it any more. */
  #toldRecord: object | undefined

  /** Number of references that the door holds. */
  get lookups(): number {
    return this.#lookups
  }

  get openHandles(): number {
    return this.#openHandles
  }

  get writeHandles(): number {
    return this.#writeHandles
  }

  /** True while the door may ask for the node by its number, or by a handle. */
  get isHolding(): boolean {
    return this.#lookups > 0 || this.#openHandles > 0
  }

  /** Adds a reference: the door looked the node up. */
  remember(): void {
    this.#lookups++
  }

  forget(count: number): void {
    this.#lookups = Math.max(0, this.#lookups - count)
  }

  opened(forWriting = false): void {
    this.#openHandles++
    if (forWriting) this.#writeHandles++
  }

  closed(forWriting = false): void {
    this.#openHandles--
    if (forWriting) this.#writeHandles--
  }

  /** Notes that showing this record again changes nothing in `tree.seen`. */
  told(record: object): void {
    this.#toldRecord = record
  }

  wasTold(record: object): boolean {
    return this.#toldRecord === record
  }

  /** Identifies the content: another number stands for another client's version. */
  get contentGeneration(): number {
    return this.#contentGeneration
  }

  /** Notes a change of the content that the door did not make: the pages it has cached are outdated. */
  contentChanged(): void {
    this.#contentGeneration++
  }

  /** Notes that the door opens the content as it is now. Returns true if the pages it has cached are of this content. */
  showContent(): boolean {
    const isShown = this.#shownGeneration === this.#contentGeneration
    this.#shownGeneration = this.#contentGeneration
    return isShown
  }
}
