// Modes and times set here, kept across restarts while the document is the same version: so that a second rsync copies
// nothing, and an editor finds the time it wrote.

import type { Journal } from '../../content/spool/journal.ts'
import type { AttributeRow } from '../../content/spool/journal-rows.ts'
import type { Node } from './node.ts'

export class AttributeStore {
  readonly #journal: Journal
  readonly #rows: Map<string, AttributeRow>

  constructor(journal: Journal) {
    this.#journal = journal
    this.#rows = new Map(journal.attributes().map((row) => [row.path, row]))
  }

  /** Puts what was set here on a node that shows a version of the service. */
  adorn(node: Node): void {
    const row = this.#rows.size === 0 ? undefined : this.#rows.get(node.path)
    const isOurs = row !== undefined && row.fingerprint === node.stored.fingerprint
    node.times.follow(isOurs ? { mode: row.mode, atime: row.atime, mtime: row.mtime } : undefined)
    if (row !== undefined && !isOurs) this.forget(node.path)
  }

  /** Makes what is set on a node durable; nothing to do while it has no version in the service. */
  save(node: Node): void {
    const { fingerprint } = node.stored
    if (fingerprint === undefined || node.isScratch || node.isDirty || node.isUnlinked) return
    const row = {
      path: node.path,
      fingerprint,
      mode: node.times.mode,
      atime: node.times.atime,
      mtime: node.times.mtime,
    }
    if (row.mode === undefined && row.atime === undefined && row.mtime === undefined) return
    this.#remember(row.path)
    this.#rows.set(row.path, row)
    this.#journal.saveAttributes(row)
  }

  forget(path: string): void {
    this.#remember(path)
    if (!this.#rows.delete(path)) return
    this.#journal.removeAttributes(path)
  }

  /** The journal has lost them: once more. */
  saveAgain(): void {
    for (const row of this.#rows.values()) this.#journal.saveAttributes(row)
  }

  /** Put back where the journal's transaction fails. */
  #remember(path: string): void {
    const before = this.#rows.get(path)
    this.#journal.onRollback(() => {
      if (before === undefined) this.#rows.delete(path)
      else this.#rows.set(path, before)
    })
  }
}
