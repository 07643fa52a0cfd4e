// Outcomes of an intention that the service has carried out, in whole or in part, and what follows for later ones at its path.
// The rows of an outcome and its event are one transaction. Refusals are in `attempts.ts`.

import type { RemoteFile } from '../../api/types.ts'
import { withDigest } from '../digest.ts'
import { fingerprintOf } from '../fingerprint.ts'
import type { CarriedContent, Intention } from '../intention.ts'
import type { Journal } from '../spool/journal.ts'
import type { Job } from './job.ts'
import { change, type OpenJobs } from './open-jobs.ts'
import type { PathOrder } from './path-order.ts'
import type { QueueEvent } from './queue-event.ts'
import type { Schedule } from './schedule.ts'

export interface OutcomeOptions {
  readonly journal: Journal
  readonly order: PathOrder
  readonly open: OpenJobs
  readonly schedule: Schedule
  say(event: QueueEvent): void
}

export class Outcomes {
  readonly #options: OutcomeOptions

  constructor(options: OutcomeOptions) {
    this.#options = options
  }

  /** Ends a job that the service has carried out; `record` is the document now at its path (undefined for a delete). */
  done(job: Job, record: RemoteFile | undefined): void {
    const { journal, open } = this.#options
    const { intention } = job
    this.#stored(intention, () => {
      open.drop(job)
      this.#rebase(intention, record)
      this.#options.say({ kind: 'done', intention, record })
      journal.afterCommit(() => (job.isDone = true))
    })
  }

  /** Keeps a job whose content was written to while it was stored: it is left to put the newer content over that. */
  contentSuperseded(job: Job, record: RemoteFile | undefined): void {
    const { open } = this.#options
    const { intention } = job
    this.#stored(intention, () => {
      this.#options.say({ kind: 'contentSuperseded', intention, record })
      const stored = { ...intention }
      change(intention, { isCopied: false, movedForeignVersion: false })
      open.leaveSource(job)
      // The job itself is the first whose base changes.
      this.#rebase(stored, record)
    })
  }

  /** Journals that the service has stored it. If that fails, the intention notes that a document found there may be our own. */
  #stored(intention: Intention, step: () => void): void {
    try {
      this.#options.journal.transaction(step)
    } catch (error) {
      intention.isOutcomeUnknown = true
      if (intention.digest !== undefined)
        intention.sentDigests = withDigest(intention.sentDigests, intention.digest)
      throw error
    }
  }

  /**
   * Gives a move its content from the spool, and makes it leave its source to newer jobs; it goes on waiting.
   * `isSourceLeft`: it keeps its source, which it still has to delete.
   */
  moveDetached(job: Job, content: CarriedContent, { isSourceLeft }: { isSourceLeft: boolean }): void {
    const { journal, open, schedule } = this.#options
    const { intention } = job
    const left = isSourceLeft ? undefined : intention.source
    journal.transaction(() => {
      change(intention, content)
      if (!isSourceLeft) open.leaveSource(job)
      // Its content is at its path already, so the refusal concerned only the source.
      if (intention.isCopied) change(intention, { isRefused: false })
      journal.intentions.save(intention)
      this.#options.say({ kind: 'moveDetached', intention, left })
      // A job that waits at its source may run before this attempt has ended.
      journal.afterCommit(() => schedule.checkSoon())
    })
  }

  /**
   * Makes the version just stored the one that later intentions at this path may replace (`base`) or move on
   * (`sourceFingerprint`): else they would take our own save for another client's.
   */
  #rebase(
    { path, movedForeignVersion = false, sourceFingerprint: known }: Intention,
    record: RemoteFile | undefined,
  ): void {
    const { journal, order } = this.#options
    const fingerprint = record === undefined ? undefined : fingerprintOf(record)
    for (const { intention } of order.at(path)) {
      // Content saved later was made from the version known here, so another client's version must not become its base.
      const seen = movedForeignVersion ? known : fingerprint
      if (intention.path === path) change(intention, { base: seen })
      else if (intention.spool !== undefined) change(intention, { sourceFingerprint: seen })
      else {
        change(intention, { sourceFingerprint: fingerprint })
        if (movedForeignVersion) change(intention, { movedForeignVersion })
      }
      journal.intentions.save(intention)
    }
  }
}
