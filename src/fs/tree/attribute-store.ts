// Modes and times set here, kept across restarts while the document is the same version, sent or not: so that a second rsync
// copies nothing, and an editor finds the time it wrote.

import type { RemoteFile } from '../../api/types.ts'
import { mayBe } from '../../content/fingerprint.ts'
import type { Intention } from '../../content/intention.ts'
import type { Journal } from '../../content/spool/journal.ts'
import type { AttributeRow } from '../../content/spool/journal-rows.ts'
import type { Node } from './node.ts'

/**
 * In the place of a fingerprint: what is to be sent to this path. No fingerprint begins so. The mark does not say which change
 * that is: a change may go on as another one, with another source or with its content brought here, and what was set stays.
 */
const unsentMark = 'unsent'

export class AttributeStore {
  readonly #journal: Journal
  readonly #rows: Map<string, AttributeRow>

  constructor(journal: Journal) {
    this.#journal = journal
    this.#rows = new Map(journal.attributes.all().map((row) => [row.path, row]))
  }

  /** Puts what was set here on a node that shows a version of the service. A node with an unsent change keeps its times. */
  applyAttributes(node: Node): void {
    if (node.job !== undefined) return
    const row = this.#rows.size === 0 ? undefined : this.#rows.get(node.path)
    const isOurs = row !== undefined && node.remote !== undefined && isOf(row, node.remote)
    node.times.reset(isOurs ? timesIn(row) : undefined)
    if (row !== undefined && !isOurs) this.#forgetIfPossible(node.path)
  }

  /** Puts what was set here on a node that shows what an earlier run left unsent. */
  adornUnsent(node: Node): void {
    const row = this.#rows.get(node.path)
    if (row !== undefined && isUnsent(row)) node.times.reset(timesIn(row))
  }

  /** Modes and times set at this path, as they outlive a restart. */
  at(path: string): AttributeRow | undefined {
    return this.#rows.get(path)
  }

  /** Makes what is set on a node durable; what is being written is handed in first, and its times with it. */
  save(node: Node): void {
    if (!isToBeHandedIn(node)) this.handedIn(node, node.job?.intention)
  }

  /**
   * Saves mode and times with the intention that is handed in: they are its own, not those of the version that the service
   * has. Undefined: the document is as stored.
   */
  handedIn(node: Node, intention: Intention | undefined): void {
    const fingerprint = intention === undefined ? node.stored.fingerprint : unsentMark
    if (fingerprint === undefined || node.isLocalOnly || node.isUnlinked) return
    const { path } = node
    const { mode, atime, mtime } = node.times
    // With none set here, those of an earlier document at this path go, too.
    if (mode === undefined && atime === undefined && mtime === undefined) this.forget(path)
    else this.#put({ path, fingerprint, mode, atime, mtime })
  }

  /**
   * For a document that is renamed while it is being written: what is handed in under the new name is what an earlier close
   * accepted, on which this was set.
   */
  handedInAsBefore({ path }: Node, set: AttributeRow | undefined): void {
    if (set === undefined) this.forget(path)
    else this.#put({ ...set, path, fingerprint: unsentMark })
  }

  /** Of what was handed in nothing is left to be sent: what was set is of the version that the service has, also while that is written again. */
  settled(node: Node): void {
    const { path, stored } = node
    if (!isToBeHandedIn(node)) return this.handedIn(node, undefined)
    const row = this.#rows.get(path)
    if (row !== undefined && isUnsent(row) && stored.fingerprint !== undefined)
      this.#put({ ...row, fingerprint: stored.fingerprint })
  }

  #put(row: AttributeRow): void {
    this.#journal.transaction(() => {
      this.#remember(row.path)
      this.#rows.set(row.path, row)
      this.#journal.attributes.save(row)
    })
  }

  /** The service has no document at this path any more; the times of one still to be sent there stay. */
  left(path: string): void {
    const row = this.#rows.get(path)
    if (row !== undefined && !isUnsent(row)) this.forget(path)
  }

  forget(path: string): void {
    if (!this.#rows.has(path)) return
    this.#journal.transaction(() => {
      this.#remember(path)
      this.#rows.delete(path)
      this.#journal.attributes.remove(path)
    })
  }

  /** For who only reads: a row of another version is never put on a node. Where it cannot go now, it stays until it can. */
  #forgetIfPossible(path: string): void {
    try {
      this.forget(path)
    } catch {
      // The next look at the document tries again.
    }
  }

  /** The journal has lost them: once more. */
  saveAgain(): void {
    for (const row of this.#rows.values()) this.#journal.attributes.save(row)
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

/** Set for this version, as far as its record tells (the interface leaves size and time out where it likes). */
function isOf(row: AttributeRow, record: RemoteFile): boolean {
  return !isUnsent(row) && mayBe(record, row.fingerprint)
}

/** An earlier docmount wrote more behind the mark. */
function isUnsent({ fingerprint }: AttributeRow): boolean {
  return fingerprint.startsWith(unsentMark)
}

/** Changed since it was handed in, if it was. */
function isToBeHandedIn(node: Node): boolean {
  return node.content !== undefined && node.isDirty && !node.unsent.isOf(node.content)
}

function timesIn({ mode, atime, mtime }: AttributeRow): Pick<AttributeRow, 'mode' | 'atime' | 'mtime'> {
  return { mode, atime, mtime }
}
