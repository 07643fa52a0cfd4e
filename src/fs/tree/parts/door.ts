// The state of a node at a door (the kernel): what the door holds of it, and was told of it.

export class DoorPart {
  #lookups = 0
  #openHandles = 0
  #writeHandles = 0
  /** Grows when the content changes behind the door's back. */
  #contentGeneration = 0
  /** The content generation that the door's pages are of. */
  #shownGeneration = -1

  /** The record that everybody was told by now. */
  #toldRecord: object | undefined

  /** References the door holds. */
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

  /** One more reference: it was looked up. */
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

  /** To tell this record of it again changes nothing. */
  told(record: object): void {
    this.#toldRecord = record
  }

  wasTold(record: object): boolean {
    return this.#toldRecord === record
  }

  /** Tells whose content it is: another number, another client's version. */
  get contentGeneration(): number {
    return this.#contentGeneration
  }

  /** Not by anything the door asked for: the pages it has are of something else. */
  contentChanged(): void {
    this.#contentGeneration++
  }

  /** The content is opened as it is now. True where the pages the door has are of it. */
  showContent(): boolean {
    const isShown = this.#shownGeneration === this.#contentGeneration
    this.#shownGeneration = this.#contentGeneration
    return isShown
  }
}
