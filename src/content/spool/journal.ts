// The journal: intentions and everything else that is true only on this machine, a table each. A committed change
// survives a kill at once, and a power cut once `durable` resolves. How it lies on the disk: `journal-database.ts`.

import type { World } from '../../world/world.ts'
import { UndurableDeletes } from './undurable-deletes.ts'
import { JournalDatabase } from './journal-database.ts'
import { Attributes } from './tables/attributes.ts'
import { Conflicts } from './tables/conflicts.ts'
import { Contents } from './tables/contents.ts'
import { Dropped } from './tables/dropped.ts'
import { Folders } from './tables/folders.ts'
import { Intentions } from './tables/intentions.ts'
import { LocalFiles } from './tables/local-files.ts'
import { NamedContents } from './tables/named-contents.ts'
import { SentDeletes } from './tables/sent-deletes.ts'

export class Journal {
  readonly #db: JournalDatabase
  readonly intentions: Intentions
  readonly contents: Contents
  readonly folders: Folders
  readonly localFiles: LocalFiles
  readonly attributes: Attributes
  readonly conflicts: Conflicts
  readonly dropped: Dropped
  readonly sentDeletes: SentDeletes
  readonly named: NamedContents
  /** Rows that a power cut may bring back. */
  readonly undurableDeletes: UndurableDeletes

  /** Opens or creates the journal in `stateDir`. Throws EBUSY where another daemon has it, ENOTSUP where a newer docmount wrote it. */
  constructor(stateDir: string, world: Pick<World, 'clock' | 'disk'>) {
    const db = new JournalDatabase(stateDir, world)
    this.#db = db
    this.undurableDeletes = new UndurableDeletes((step) => db.onceDurable(step))
    this.dropped = new Dropped(db)
    this.named = new NamedContents(db, this.dropped)
    this.intentions = new Intentions(db, this.named)
    this.contents = new Contents(db)
    this.folders = new Folders(db, this.undurableDeletes)
    this.localFiles = new LocalFiles(db, this.named, this.undurableDeletes)
    this.attributes = new Attributes(db)
    this.conflicts = new Conflicts(db)
    this.sentDeletes = new SentDeletes(db, world.clock)
  }

  /** Damage found at the start, and what was done about it, one sentence each. */
  get damage(): readonly string[] {
    return this.#db.damage
  }

  /** Called with a sentence about damage that is found while the journal is open. */
  set onDamage(tell: (sentence: string) => void) {
    this.#db.onDamage = tell
  }

  /** Called in a transaction after other programs wrote over the journal: writes all its rows again, from memory. */
  set onLost(refill: () => void) {
    this.#db.onLost = refill
  }

  /** Called with the error of a step after a commit or rollback, which the transaction's caller does not get. */
  set onStepFailed(tell: (error: unknown) => void) {
    this.#db.onStepFailed = tell
  }

  /** Writes the journal's files again, from the open ones, where they are missing at their paths. Throws the disk's error. */
  restoreFiles(): void {
    this.#db.restoreFiles()
  }

  /** Resolves when everything written so far survives a power cut. */
  durable(): Promise<void> {
    return this.#db.durable()
  }

  /** Runs `step` once everything written so far survives a power cut: at the next `durable`, or within a second. */
  onceDurable(step: () => void): void {
    this.#db.onceDurable(step)
  }

  /** Runs `body` in a transaction, or in the one under way. Throws its error, or the disk's, after a rollback. */
  transaction<T>(body: () => T): T {
    return this.#db.transaction(body)
  }

  /** Runs `step` after the transaction under way is committed, and never if it is rolled back; at once where there is none. */
  afterCommit(step: () => void): void {
    this.#db.afterCommit(step)
  }

  close(): void {
    this.#db.close()
  }
}
