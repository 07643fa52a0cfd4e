// The local part of a document: its content in the spool, whole or still being copied up, and whether it is to be sent at all.
// Only `Claims` replaces the spool file.

import { Undoable } from '../../../content/spool/undo.ts'
import type { SpoolFile } from '../../../content/spool/spool-file.ts'
import type { Traces } from '../scratch.ts'

interface Local {
  readonly content: SpoolFile | undefined
  /** The epoch of the content that is saved (`SpoolFile.epoch` grows with each change); -1: none is. */
  readonly savedEpoch: number
  readonly isWritten: boolean
  readonly isLocalOnly: boolean
  readonly isMadeTemporary: boolean
  readonly isCutOff: boolean
}

const initial: Local = {
  content: undefined,
  savedEpoch: -1,
  isWritten: false,
  isLocalOnly: false,
  isMadeTemporary: false,
  isCutOff: false,
}

export class LocalPart extends Undoable<Local> {
  #copyUp: Promise<void> | undefined
  #handover: Promise<void> | undefined

  constructor() {
    super(initial)
  }

  /** Undefined if the document is read from the service. */
  get content(): SpoolFile | undefined {
    return this.now.content
  }

  /** True if the content changed since it was saved: in the service, or, for a local-only file, in the journal. */
  get isDirty(): boolean {
    return this.now.content !== undefined && this.now.content.epoch !== this.now.savedEpoch
  }

  /** True if a program wrote, not only created or truncated, since the content was last submitted. */
  get isWritten(): boolean {
    return this.now.isWritten
  }

  /** True if the document is on this machine only, for now or for good. Never true of a folder. */
  get isLocalOnly(): boolean {
    return this.now.isLocalOnly
  }

  /** True if it was created as temporary files are, and has the name that it was created with. */
  get isMadeTemporary(): boolean {
    return this.now.isMadeTemporary
  }

  /** True if its last writer was killed before closing it. */
  get isCutOff(): boolean {
    return this.now.isCutOff
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
    this.alter({ content, savedEpoch: -1, isWritten: content !== undefined && this.isWritten })
  }

  /** Notes that the content as of this epoch is saved: in the service or in the journal. */
  saved(epoch: number | undefined = this.now.content?.epoch): void {
    this.alter({ savedEpoch: epoch ?? -1 })
  }

  /** Notes that the content is saved nowhere else any more: the version that it was copied from is destroyed in the service. */
  unsaved(): void {
    this.alter({ savedEpoch: -1 })
  }

  /** A program wrote something: the next close sends it. */
  wrote(): void {
    if (!this.isWritten) this.alter({ isWritten: true })
  }

  /** The queue has taken over the written content. */
  handedIn(): void {
    this.alter({ isWritten: false })
  }

  /** Keeps the document on this machine. `traces`: signs that it may be unfinished. */
  markLocalOnly(traces: Partial<Traces> = {}): void {
    const { isMadeTemporary = false, isCutOff = false } = traces
    this.alter({ isLocalOnly: true, isMadeTemporary, isCutOff })
  }

  /** Its writer has closed it, or was killed (`isCutOff`). */
  closed(isCutOff: boolean): void {
    this.alter({ isCutOff })
  }

  /** The local-only file is a document from now on, and to be sent: its row in the journal does not count as a save any more. */
  publish(): void {
    this.alter({ isLocalOnly: false, isMadeTemporary: false, isCutOff: false, savedEpoch: -1 })
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
}
