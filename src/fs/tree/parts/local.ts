// The local part of a document: its content in the spool, whole or still being copied up, and whether it is to be sent at all.
// Only `Claims` replaces the spool file.

import type { SpoolFile } from '../../../content/spool/spool-file.ts'
import type { Traces } from '../scratch.ts'

export class LocalPart {
  #content: SpoolFile | undefined
  /** The epoch of the content that is saved (`SpoolFile.epoch` grows with each change); -1: none is. */
  #savedEpoch = -1
  #isWritten = false
  #isLocalOnly = false
  #isMadeTemporary = false
  #isCutOff = false
  #copyUp: Promise<void> | undefined
  #handover: Promise<void> | undefined

  /** Undefined if the document is read from the service. */
  get content(): SpoolFile | undefined {
    return this.#content
  }

  /** True if the content changed since it was saved: in the service, or, for a local-only file, in the journal. */
  get isDirty(): boolean {
    return this.#content !== undefined && this.#content.epoch !== this.#savedEpoch
  }

  /** True if a program wrote, not only created or truncated, since the content was last submitted. */
  get isWritten(): boolean {
    return this.#isWritten
  }

  /** True if the document is on this machine only, for now or for good. Never true of a folder. */
  get isLocalOnly(): boolean {
    return this.#isLocalOnly
  }

  /** True if it was created as temporary files are, and has the name that it was created with. */
  get isMadeTemporary(): boolean {
    return this.#isMadeTemporary
  }

  /** True if its last writer was killed before closing it. */
  get isCutOff(): boolean {
    return this.#isCutOff
  }

  /** The copy-up, while it is under way. */
  get copyUp(): Promise<void> | undefined {
    return this.#copyUp
  }

  /** The takeover of the content by the cache, while it is under way. */
  get handover(): Promise<void> | undefined {
    return this.#handover
  }

  /** Makes this file the content, which is saved nowhere else yet; undefined removes the content. */
  become(content: SpoolFile | undefined): void {
    this.#content = content
    this.#savedEpoch = -1
    if (content === undefined) this.#isWritten = false
  }

  /** Notes that the content as of this epoch is saved: in the service or in the journal. */
  saved(epoch: number | undefined = this.#content?.epoch): void {
    this.#savedEpoch = epoch ?? -1
  }

  /** Notes that the content is saved nowhere else any more: the version that it was copied from is destroyed in the service. */
  unsaved(): void {
    this.#savedEpoch = -1
  }

  /** A program wrote something: the next close sends it. */
  wrote(): void {
    this.#isWritten = true
  }

  /** The queue has taken over the written content. */
  handedIn(): void {
    this.#isWritten = false
  }

  /** Keeps the document on this machine. `traces`: signs that it may be unfinished. */
  markLocalOnly(traces?: Traces): void {
    this.#isLocalOnly = true
    this.#isMadeTemporary = traces?.isMadeTemporary === true
    this.#isCutOff = traces?.isCutOff === true
  }

  /** Its writer has closed it, or was killed (`isCutOff`). */
  closed(isCutOff: boolean): void {
    this.#isCutOff = isCutOff
  }

  /** The local-only file is a document from now on, and to be sent: its row in the journal does not count as a save any more. */
  publish(): void {
    this.#isLocalOnly = false
    this.#isMadeTemporary = false
    this.#isCutOff = false
    this.#savedEpoch = -1
  }

  /** Notes that content is being copied up, or into a file of its own, until `work` ends. */
  bring(work: Promise<void>): Promise<void> {
    this.#copyUp = work.finally(() => {
      this.#copyUp = undefined
    })
    return this.#copyUp
  }

  /** Notes that the cache takes the content over until `work`, which must not reject, ends. */
  handOver(work: Promise<void>): void {
    this.#handover = work.finally(() => {
      this.#handover = undefined
    })
  }

  /** Returns a function that restores the present state; work under way goes on. */
  snapshot(): () => void {
    const [content, savedEpoch] = [this.#content, this.#savedEpoch]
    const [isWritten, isLocalOnly] = [this.#isWritten, this.#isLocalOnly]
    const [isMadeTemporary, isCutOff] = [this.#isMadeTemporary, this.#isCutOff]
    return () => {
      this.#content = content
      this.#savedEpoch = savedEpoch
      this.#isWritten = isWritten
      this.#isLocalOnly = isLocalOnly
      this.#isMadeTemporary = isMadeTemporary
      this.#isCutOff = isCutOff
    }
  }
}
