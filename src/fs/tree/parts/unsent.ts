// The unsent part of a document: the change under way, the version that it may replace, and the older place the document moves
// from. Only `Owners` sets and removes jobs, except for a document that is given up.

import type { Job } from '../../../content/commit/job.ts'
import { Undoable } from '../../../content/spool/undo.ts'
import type { SpoolFile } from '../../../content/spool/spool-file.ts'

/** The former path of a renamed document, and the fingerprint of its version there, as far as known. */
export interface OlderPlace {
  readonly path: string
  readonly fingerprint: string | undefined
}

interface Unsent {
  readonly job: Job | undefined
  readonly base: string | undefined
  readonly isDecided: boolean
  readonly movesFrom: OlderPlace | undefined
  readonly isCopy: boolean
  readonly submittedEpoch: number
  readonly submittedOrder: number
}

const initial: Unsent = {
  job: undefined,
  base: undefined,
  isDecided: false,
  movesFrom: undefined,
  isCopy: false,
  submittedEpoch: -1,
  submittedOrder: -1,
}

export class UnsentPart extends Undoable<Unsent> {
  constructor() {
    super(initial)
  }

  /** The newest change under way or waiting. */
  get job(): Job | undefined {
    return this.now.job
  }

  /** Fingerprint of the version at the node's path that a commit may replace: one that was seen by this mount. */
  get base(): string | undefined {
    return this.now.base
  }

  /**
   * The older place from which the next commit moves the document: the service has it there, or will when the change under way
   * has arrived.
   */
  get movesFrom(): OlderPlace | undefined {
    return this.now.movesFrom
  }

  /** True for a copy that the service makes: the original stays where it is read. */
  get isCopy(): boolean {
    return this.now.isCopy
  }

  /** True if the content, as it is now, was submitted last: `epoch` grows with each change of the spool file. */
  isOf({ epoch }: SpoolFile): boolean {
    return epoch === this.now.submittedEpoch
  }

  /** True if a spool file made after this one (`order`) was submitted: a slower close of this one must not undo that. */
  isNewerThan({ order }: SpoolFile): boolean {
    return order < this.now.submittedOrder
  }

  /** Sets the version that the next commit may replace (undefined: none): the one shown, stored or renamed over just now. */
  mayReplace(fingerprint: string | undefined): void {
    this.alter({ base: fingerprint, isDecided: false })
  }

  /** Sets the version that a save may replace when the save begins: it stays, whatever is shown until the save is over. */
  decide(fingerprint: string): void {
    this.alter({ base: fingerprint, isDecided: true })
  }

  /** True if the version that the next commit may replace was set when its save began. */
  get isDecided(): boolean {
    return this.now.isDecided
  }

  /** The next commit moves the document from this place (after `f` → `g`: from `f`). */
  comesFrom(place: OlderPlace): void {
    this.alter({ movesFrom: place, isCopy: false })
  }

  /** The document is back at the path where the service has it (`f` → `g` → `f`): there is nothing to move. */
  atOwnPath(): void {
    this.alter({ movesFrom: undefined })
  }

  /** The next commit lets the service copy the version that the node shows. */
  copies(): void {
    this.alter({ isCopy: true, movesFrom: undefined })
  }

  /** The content is another spool file: none of it was submitted, and it is no copy that the service makes. */
  contentReplaced(): void {
    this.alter({ submittedEpoch: -1, isCopy: false })
  }

  /** A change was submitted; `content` and `epoch` if it carries the node's own content. */
  handedIn(job: Job | undefined, content: SpoolFile | undefined, epoch: number | undefined): void {
    const { submittedEpoch, submittedOrder } = this.now
    this.alter({
      job,
      movesFrom: undefined,
      submittedEpoch: epoch ?? submittedEpoch,
      submittedOrder: content?.order ?? submittedOrder,
    })
  }

  /** This job took the place of the change, as when two are merged; undefined if the change is over. */
  goesOnAs(job: Job | undefined): void {
    this.alter({ job })
  }

  /** The change was taken back before it was sent: none of the content counts as submitted, and the next commit sends it. */
  withdrawn(): void {
    this.alter({ job: undefined, submittedEpoch: -1 })
  }

  /** The service has the document: no copy is left for it to make. */
  arrived(): void {
    this.alter({ isCopy: false })
  }

  /** No change of the document is to be sent any more: from now on it is on this machine only (a kept backup, the trash). */
  givenUp(): void {
    this.withdrawn()
    this.alter({ movesFrom: undefined })
  }
}
