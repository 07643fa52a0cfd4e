// Modes and times that programs here set on documents; the service has none. A row of the journal keeps them across restarts, for
// as long as the document is the same version, sent or not: so a second rsync copies nothing, and an editor finds the time it wrote.

import type { RemoteFile } from '../../api/types.ts'
import { mayBe } from '../../content/fingerprint.ts'
import type { Intention } from '../../content/intention.ts'
import type { Journal } from '../../content/spool/journal.ts'
import { UndoableMap } from '../../content/spool/undo.ts'
import type { AttributeRow } from '../../content/spool/journal-rows.ts'
import type { Node } from './node.ts'

/**
 * Stands for the fingerprint of a version that is still to be sent; no fingerprint begins so. It does not name the change, since
 * another one may take that one's place, and the attributes stay.
 */
const unsentMark = 'unsent'

export class AttributeStore {
  readonly #journal: Journal
  readonly #rows: Map<string, AttributeRow>

  constructor(journal: Journal) {
    this.#journal = journal
    this.#rows = new UndoableMap(journal.attributes.all().map((row) => [row.path, row]))
  }

  /** Gives a node the attributes that were set here for the version it shows. A node with an unsent change keeps its own. */
  applyAttributes(node: Node): void {
    if (node.job !== undefined) return
    const row = this.#rows.size === 0 ? undefined : this.#rows.get(node.path)
    const isOurs = row !== undefined && node.remote !== undefined && isOf(row, node.remote)
    node.times.reset(isOurs ? timesIn(row) : undefined)
    if (row !== undefined && !isOurs) this.#forgetIfPossible(node.path)
  }

  /** Gives a node the attributes of a change that an earlier run left unsent. */
  applyToUnsent(node: Node): void {
    const row = this.#rows.get(node.path)
    if (row !== undefined && isUnsent(row)) node.times.reset(timesIn(row))
  }

  /** Modes and times set at this path, as they outlive a restart. */
  at(path: string): AttributeRow | undefined {
    return this.#rows.get(path)
  }

  /** Saves the node's attributes. Those of a document that is being written are saved with its next change. */
  save(node: Node): void {
    if (!isToBeHandedIn(node)) this.saveWithChange(node, node.job?.intention)
  }

  /**
   * Saves the node's attributes as those of this change, which was just journaled; undefined: as those of the version that the
   * service has.
   */
  saveWithChange(node: Node, intention: Intention | undefined): void {
    const fingerprint = intention === undefined ? node.stored.fingerprint : unsentMark
    if (fingerprint === undefined || node.isLocalOnly || node.isUnlinked) return
    const { path } = node
    const { mode, atime, mtime } = node.times
    // With none set here, those of an earlier document at this path go, too.
    if (mode === undefined && atime === undefined && mtime === undefined) this.forget(path)
    else this.#put({ path, fingerprint, mode, atime, mtime })
  }

  /**
   * Saves attributes of an earlier path for a document that was renamed while a program writes it. The change under the new name
   * carries the content of the last close, and `set` are the attributes that this content had.
   */
  moveToChange({ path }: Node, set: AttributeRow | undefined): void {
    if (set === undefined) this.forget(path)
    else this.#put({ ...set, path, fingerprint: unsentMark })
  }

  /** Called when the service has the document's last change: the attributes are those of the stored version from now on. */
  settled(node: Node): void {
    const { path, stored } = node
    if (!isToBeHandedIn(node)) return this.saveWithChange(node, undefined)
    // The node's present attributes are those of content that is being written again; the row has those that were sent.
    const row = this.#rows.get(path)
    if (row !== undefined && isUnsent(row) && stored.fingerprint !== undefined)
      this.#put({ ...row, fingerprint: stored.fingerprint })
  }

  #put(row: AttributeRow): void {
    this.#journal.transaction(() => {
      this.#rows.set(row.path, row)
      this.#journal.attributes.save(row)
    })
  }

  /** Called when the service has no document at this path any more: forgets its attributes, but not those of one still to be sent there. */
  left(path: string): void {
    const row = this.#rows.get(path)
    if (row !== undefined && !isUnsent(row)) this.forget(path)
  }

  forget(path: string): void {
    if (!this.#rows.has(path)) return
    this.#journal.transaction(() => {
      this.#rows.delete(path)
      this.#journal.attributes.remove(path)
    })
  }

  /** Like `forget`, but never throws, for calls that only read. A row that stays does no harm: it is of another version. */
  #forgetIfPossible(path: string): void {
    try {
      this.forget(path)
    } catch {
      // The next look at the document tries again.
    }
  }

  /** Journals all of them again, after the journal has lost them. */
  saveAgain(): void {
    for (const row of this.#rows.values()) this.#journal.attributes.save(row)
  }
}

/** True if the row is of this version, as far as its record tells: size and time are optional (interface, "File"). */
function isOf(row: AttributeRow, record: RemoteFile): boolean {
  return !isUnsent(row) && mayBe(record, row.fingerprint)
}

/** True for a row of a change that is still to be sent. An earlier docmount wrote more behind the mark. */
function isUnsent({ fingerprint }: AttributeRow): boolean {
  return fingerprint.startsWith(unsentMark)
}

/** True for content that was changed since it was last journaled: its close journals it. */
function isToBeHandedIn(node: Node): boolean {
  return node.content !== undefined && node.isDirty && !node.unsent.isOf(node.content)
}

function timesIn({ mode, atime, mtime }: AttributeRow): Pick<AttributeRow, 'mode' | 'atime' | 'mtime'> {
  return { mode, atime, mtime }
}
