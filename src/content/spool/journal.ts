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
import type { Undo } from './undo.ts'

export class Journal {
  readonly #db: JournalDatabase
  readonly intentions: Intentions
  readonly contents: Contents
  readonly folders: Folders
  readonly localFiles: LocalFiles
  readonly attributes: Attributes
  readonly conflicts: Conflicts
  readonly dropped: Dropped
  readonly named: NamedContents
  /** Rows that a power cut may bring back. */
  readonly ended: UndurableDeletes

  /** Opens or makes the journal in `stateDir`. Throws EBUSY when another daemon has it, ENOTSUP when a newer docmount wrote it. */
  constructor(stateDir: string, world: Pick<World, 'clock' | 'disk'>) {
    const db = new JournalDatabase(stateDir, world)
    this.#db = db
    this.ended = new UndurableDeletes((step) => db.onceDurable(step))
    this.dropped = new Dropped(db)
    this.named = new NamedContents(db, this.dropped)
    this.intentions = new Intentions(db, this.named)
    this.contents = new Contents(db)
    this.folders = new Folders(db, this.ended)
    this.localFiles = new LocalFiles(db, this.named, this.ended)
    this.attributes = new Attributes(db)
    this.conflicts = new Conflicts(db)
  }

  /** Damage found at the start, and what was done about it, one sentence each. */
  get damage(): readonly string[] {
    return this.#db.damage
  }

  /** Told, in a sentence, of what is found damaged while it is open. */
  set onDamage(tell: (sentence: string) => void) {
    this.#db.onDamage = tell
  }

  /** Writes all of it anew, in a transaction, where what was written is lost. */
  set onLost(refill: () => void) {
    this.#db.onLost = refill
  }

  /** Told of what a step threw that followed a transaction, or undid one. */
  set onStepFailed(tell: (error: unknown) => void) {
    this.#db.onStepFailed = tell
  }

  /** Where its files are not at their paths any more it is made anew of what they hold. Throws where that cannot be. */
  look(): void {
    this.#db.look()
  }

  /** Resolves when everything written so far survives a power cut. */
  durable(): Promise<void> {
    return this.#db.durable()
  }

  /** Runs `step` when everything written so far survives a power cut: with whoever asks for that next, in a second else. */
  onceDurable(step: () => void): void {
    this.#db.onceDurable(step)
  }

  /** All or nothing. */
  transaction<T>(body: () => T): T {
    return this.#db.transaction(body)
  }

  /** Runs `step` when the transaction under way is on disk, never where it is rolled back; at once where there is none. */
  afterCommit(step: () => void): void {
    this.#db.afterCommit(step)
  }

  /** Runs `undo`, the latest first, where the transaction under way is rolled back: memory says what the journal says. */
  onRollback(undo: Undo): void {
    this.#db.onRollback(undo)
  }

  close(): void {
    this.#db.close()
  }
}
