// Outcomes of an intention that the service agreed to, in whole or in part: later ones for its path stand on that.
// The rows of an outcome and its event are one transaction. A refusal is none of them: `attempts.ts`.

import type { RemoteFile } from '../../api/types.ts'
import { withDigest } from '../digest.ts'
import { fingerprintOf } from '../fingerprint.ts'
import type { CarriedContent, Intention } from '../intention.ts'
import type { Journal } from '../spool/journal.ts'
import type { Job } from './job.ts'
import type { OpenJobs } from './open-jobs.ts'
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

  /** The service has what this job is for; `record` is what stands at its path (undefined for a delete). */
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

  /** Its only work left is to put the newer content over what was just stored. */
  contentSuperseded(job: Job, record: RemoteFile | undefined): void {
    const { open } = this.#options
    const { intention } = job
    this.#stored(intention, () => {
      this.#options.say({ kind: 'contentSuperseded', intention, record })
      const stored = { ...intention }
      open.follow(() => Object.assign(intention, stored))
      Object.assign(intention, { isCopied: false, movedForeignVersion: false })
      open.leaveSource(job)
      // It is itself the first of those that stand on it now.
      this.#rebase(stored, record)
    })
  }

  /** The service has it. Where the journal cannot say so, what is found there next time is our own. */
  #stored(intention: Intention, journaled: () => void): void {
    try {
      this.#options.journal.transaction(journaled)
    } catch (error) {
      intention.isOutcomeUnknown = true
      if (intention.digest !== undefined)
        intention.sentDigests = withDigest(intention.sentDigests, intention.digest)
      throw error
    }
  }

  /**
   * It takes nothing away any more, and waits as it did: what stands at its source is for what is newer there.
   * `isSourceLeft`: that is still to be taken away.
   */
  moveDetached(job: Job, content: CarriedContent, { isSourceLeft }: { isSourceLeft: boolean }): void {
    const { journal, open, schedule } = this.#options
    const { intention } = job
    const { spool, size, digest, isRefused } = intention
    const left = isSourceLeft ? undefined : intention.source
    journal.transaction(() => {
      open.follow(() => Object.assign(intention, { spool, size, digest, isRefused }))
      Object.assign(intention, content)
      if (!isSourceLeft) open.leaveSource(job)
      // Of a proven intention only the source was left.
      if (intention.isCopied) intention.isRefused = false
      journal.intentions.save(intention)
      this.#options.say({ kind: 'moveDetached', intention, left })
      // A job that waited at its source may go before this attempt has come to its end.
      journal.afterCommit(() => schedule.lookSoon())
    })
  }

  /** Later intentions for this path now stand on what was just stored. */
  #rebase(
    { path, movedForeignVersion = false, sourceFingerprint: known }: Intention,
    record: RemoteFile | undefined,
  ): void {
    const { journal, order, open } = this.#options
    const fingerprint = record === undefined ? undefined : fingerprintOf(record)
    for (const { intention } of order.at(path)) {
      const { base, sourceFingerprint } = intention
      open.follow(() => Object.assign(intention, { base, sourceFingerprint }))
      // Content saved over it, there or elsewhere, was made of the version that was known: theirs is kept beside it.
      const seen = movedForeignVersion ? known : fingerprint
      if (intention.path === path) intention.base = seen
      else if (intention.spool !== undefined) intention.sourceFingerprint = seen
      else {
        intention.sourceFingerprint = fingerprint
        if (movedForeignVersion) intention.movedForeignVersion = true
      }
      journal.intentions.save(intention)
    }
  }
}
