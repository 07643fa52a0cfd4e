// The unsent part of a document: the change under way, the version that it may replace, and the older place the document moves
// from. Only `Owners` sets and removes jobs, except for a document that is given up.

import type { Job } from '../../../content/commit/job.ts'
import type { SpoolFile } from '../../../content/spool/spool-file.ts'

/** The former path of a renamed document, and the fingerprint of its version there, as far as known. */
export interface OlderPlace {
  readonly path: string
  readonly fingerprint: string | undefined
}

export class UnsentPart {
  #job: Job | undefined
  #base: string | undefined
  #isDecided = false
  #movesFrom: OlderPlace | undefined
  #isCopy = false
  #submittedEpoch = -1
  #submittedOrder = -1

  /** The newest change under way or waiting. */
  get job(): Job | undefined {
    return this.#job
  }

  /** Fingerprint of the version at the node's path that a commit may replace: one that was seen by this mount. */
  get base(): string | undefined {
    return this.#base
  }

  /**
   * The older place from which the next commit moves the document: the service has it there, or will when the change under way
   * has arrived.
   */
  get movesFrom(): OlderPlace | undefined {
    return this.#movesFrom
  }

  /** True for a copy that the service makes: the original stays where it is read. */
  get isCopy(): boolean {
    return this.#isCopy
  }

  /** True if the content, as it is now, was submitted last: `epoch` grows with each change of the spool file. */
  isOf({ epoch }: SpoolFile): boolean {
    return epoch === this.#submittedEpoch
  }

  /** True if a spool file made after this one (`order`) was submitted: a slower close of this one must not undo that. */
  isNewerThan({ order }: SpoolFile): boolean {
    return order < this.#submittedOrder
  }

  /** Sets the version that the next commit may replace (undefined: none): the one shown, stored or renamed over just now. */
  mayReplace(fingerprint: string | undefined): void {
    this.#base = fingerprint
    this.#isDecided = false
  }

  /** Sets the version that a save may replace when the save begins: it stays, whatever is shown until the save is over. */
  decide(fingerprint: string): void {
    this.#base = fingerprint
    this.#isDecided = true
  }

  /** True if the version that the next commit may replace was set when its save began. */
  get isDecided(): boolean {
    return this.#isDecided
  }

  /** The next commit moves the document from this place (after `f` → `g`: from `f`). */
  comesFrom(place: OlderPlace): void {
    this.#movesFrom = place
    this.#isCopy = false
  }

  /** The document is back at the path where the service has it (`f` → `g` → `f`): there is nothing to move. */
  atOwnPath(): void {
    this.#movesFrom = undefined
  }

  /** The next commit lets the service copy the version that the node shows. */
  copies(): void {
    this.#isCopy = true
    this.#movesFrom = undefined
  }

  /** The content is another spool file: none of it was submitted, and it is no copy that the service makes. */
  contentReplaced(): void {
    this.#submittedEpoch = -1
    this.#isCopy = false
  }

  /** A change was submitted; `content` and `epoch` if it carries the node's own content. */
  handedIn(job: Job | undefined, content: SpoolFile | undefined, epoch: number | undefined): void {
    this.#job = job
    this.#movesFrom = undefined
    if (epoch !== undefined) this.#submittedEpoch = epoch
    if (content !== undefined) this.#submittedOrder = content.order
  }

  /** This job took the place of the change, as when two are merged; undefined if the change is over. */
  goesOnAs(job: Job | undefined): void {
    this.#job = job
  }

  /** The change was taken back before it was sent: none of the content counts as submitted, and the next commit sends it. */
  withdrawn(): void {
    this.#job = undefined
    this.#submittedEpoch = -1
  }

  /** The service has the document: no copy is left for it to make. */
  arrived(): void {
    this.#isCopy = false
  }

  /** No change of the document is to be sent any more: from now on it is on this machine only (a kept backup, the trash). */
  givenUp(): void {
    this.withdrawn()
    this.#movesFrom = undefined
  }

  /** Returns a function that restores the present state. */
  snapshot(): () => void {
    const [job, base, movesFrom, isCopy] = [this.#job, this.#base, this.#movesFrom, this.#isCopy]
    const isDecided = this.#isDecided
    const [submittedEpoch, submittedOrder] = [this.#submittedEpoch, this.#submittedOrder]
    return () => {
      this.#job = job
      this.#base = base
      this.#isDecided = isDecided
      this.#movesFrom = movesFrom
      this.#isCopy = isCopy
      this.#submittedEpoch = submittedEpoch
      this.#submittedOrder = submittedOrder
    }
  }
}
