// The unsent part of a document: the change under way, the version it may replace, and the place where the document
// comes from. Jobs come and go by `Owners` alone, but for what is given up.

import type { Job } from '../../../content/commit/job.ts'
import type { SpoolFile } from '../../../content/spool/spool-file.ts'

/** Where a renamed document stood, and what the service has there as far as known. */
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

  /** The fingerprint at the node's path that this mount has seen: what a commit may replace. */
  get base(): string | undefined {
    return this.#base
  }

  /** The older place its next commit takes it away from: the service has it there, or will when what is under way has arrived. */
  get movesFrom(): OlderPlace | undefined {
    return this.#movesFrom
  }

  /** A copy made within the service: where it is read, the original stays. */
  get isCopy(): boolean {
    return this.#isCopy
  }

  /** True where the content is what was last handed in. */
  isOf({ epoch }: SpoolFile): boolean {
    return epoch === this.#submittedEpoch
  }

  /** True where newer content than this was handed in. */
  isNewerThan({ order }: SpoolFile): boolean {
    return order < this.#submittedOrder
  }

  /** This version, or none, is what its next commit may replace. */
  mayReplace(fingerprint: string | undefined): void {
    this.#base = fingerprint
    this.#isDecided = false
  }

  /** A save has begun, and this is what it may replace, whatever is shown until it is over. */
  decide(fingerprint: string): void {
    this.#base = fingerprint
    this.#isDecided = true
  }

  /** The version that its next commit may replace was decided when that save began. */
  get isDecided(): boolean {
    return this.#isDecided
  }

  /** Its next commit takes it away from there. */
  comesFrom(place: OlderPlace): void {
    this.#movesFrom = place
    this.#isCopy = false
  }

  /** It is where it belongs: there is no older place to take it from. */
  atOwnPath(): void {
    this.#movesFrom = undefined
  }

  /** Its next commit lets the service copy what it shows. */
  copies(): void {
    this.#isCopy = true
    this.#movesFrom = undefined
  }

  /** Its content is another file: nothing of that was handed in, and it is no copy of the service's making. */
  contentReplaced(): void {
    this.#submittedEpoch = -1
    this.#isCopy = false
  }

  /** The change, with the content as of this epoch where it carries the node's own. */
  handedIn(job: Job | undefined, content: SpoolFile | undefined, epoch: number | undefined): void {
    this.#job = job
    this.#movesFrom = undefined
    if (epoch !== undefined) this.#submittedEpoch = epoch
    if (content !== undefined) this.#submittedOrder = content.order
  }

  /** The change goes on as this one; undefined where it is over. */
  goesOnAs(job: Job | undefined): void {
    this.#job = job
  }

  /** The change was taken back: nothing of the content was ever handed in. */
  withdrawn(): void {
    this.#job = undefined
    this.#submittedEpoch = -1
  }

  /** The service has the document. */
  arrived(): void {
    this.#isCopy = false
  }

  /** The service shall not hear of it any more. */
  givenUp(): void {
    this.withdrawn()
    this.#movesFrom = undefined
  }

  /** As it is now, to be put back. */
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
