// The local part of a document: its content in the spool, whole or on its way here, and whether it is to be sent at
// all. The content is another file's by `Claims` alone.

import type { SpoolFile } from '../../../content/spool/spool-file.ts'
import type { Traces } from '../scratch.ts'

export class LocalPart {
  #content: SpoolFile | undefined
  #savedEpoch = -1
  #isWritten = false
  #isLocalOnly = false
  #isMadeTemporary = false
  #isCutOff = false
  #copyUp: Promise<void> | undefined
  #handover: Promise<void> | undefined

  /** Undefined where the document is read from the service. */
  get content(): SpoolFile | undefined {
    return this.#content
  }

  /** The content is not what the service has, or, of a local-only file, not what the journal says. */
  get isDirty(): boolean {
    return this.#content !== undefined && this.#content.epoch !== this.#savedEpoch
  }

  /** Something was written, not only created or truncated, since the content was last handed in. */
  get isWritten(): boolean {
    return this.#isWritten
  }

  /** On this machine only, for now or for good. Never true of a folder. */
  get isLocalOnly(): boolean {
    return this.#isLocalOnly
  }

  /** It was made as temporary files are, and has the name that it was made with. */
  get isMadeTemporary(): boolean {
    return this.#isMadeTemporary
  }

  /** Its last writer was killed before it closed it. */
  get isCutOff(): boolean {
    return this.#isCutOff
  }

  /** The copy-up under way. */
  get copyUp(): Promise<void> | undefined {
    return this.#copyUp
  }

  /** The cache is taking the content over. */
  get handover(): Promise<void> | undefined {
    return this.#handover
  }

  /** The content is this file, and nobody has it as it is; or it is not here any more. */
  become(content: SpoolFile | undefined): void {
    this.#content = content
    this.#savedEpoch = -1
    if (content === undefined) this.#isWritten = false
  }

  /** The content as of this epoch is what the service has, or the journal says. */
  saved(epoch: number | undefined = this.#content?.epoch): void {
    this.#savedEpoch = epoch ?? -1
  }

  /** The content is nowhere else any more. */
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

  /** It stays on this machine; `traces`: what tells that it may be half a document, where anything does. */
  markLocalOnly(traces?: Traces): void {
    this.#isLocalOnly = true
    this.#isMadeTemporary = traces?.isMadeTemporary === true
    this.#isCutOff = traces?.isCutOff === true
  }

  /** Its writer closes it, or is killed. */
  closed(isCutOff: boolean): void {
    this.#isCutOff = isCutOff
  }

  /** The service shall know it, and has nothing of it yet. */
  publish(): void {
    this.#isLocalOnly = false
    this.#isMadeTemporary = false
    this.#isCutOff = false
    this.#savedEpoch = -1
  }

  /** Content is on its way here, or into a file of its own, until `work` ends. */
  bring(work: Promise<void>): Promise<void> {
    this.#copyUp = work.finally(() => {
      this.#copyUp = undefined
    })
    return this.#copyUp
  }

  /** The cache takes the content over until `work`, which must not reject, ends. */
  handOver(work: Promise<void>): void {
    this.#handover = work.finally(() => {
      this.#handover = undefined
    })
  }

  /** As it is now, to be put back; what is under way goes on. */
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
