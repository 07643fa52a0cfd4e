// Modes and times set here, kept across restarts while the document is the same version, sent or not: so that a second rsync
// copies nothing, and an editor finds the time it wrote.

import type { RemoteFile } from '../../api/types.ts'
import { mayBe } from '../../content/fingerprint.ts'
import type { Intention } from '../../content/intention.ts'
import type { Journal } from '../../content/spool/journal.ts'
import type { AttributeRow } from '../../content/spool/journal-rows.ts'
import type { Node } from './node.ts'

/** Before what tells unsent content, in the place of a fingerprint: no fingerprint begins so. */
const unsentMark = 'unsent '

export class AttributeStore {
  readonly #journal: Journal
  readonly #rows: Map<string, AttributeRow>

  constructor(journal: Journal) {
    this.#journal = journal
    this.#rows = new Map(journal.attributes.all().map((row) => [row.path, row]))
  }

  /** Puts what was set here on a node that shows a version of the service. */
  adorn(node: Node): void {
    const row = this.#rows.size === 0 ? undefined : this.#rows.get(node.path)
    const isOurs = row !== undefined && node.remote !== undefined && isOf(row, node.remote)
    node.times.follow(isOurs ? timesIn(row) : undefined)
    if (row !== undefined && !isOurs && node.job === undefined) this.#forgetIfPossible(node.path)
  }

  /** Puts what was set here on a node that shows what an earlier run left unsent. */
  adornUnsent(node: Node, intention: Intention): void {
    const row = this.#rows.get(node.path)
    if (row?.fingerprint === unsentKey(intention)) node.times.follow(timesIn(row))
  }

  /** Makes what is set on a node durable; what is being written is handed in first, and its times with it. */
  save(node: Node): void {
    const { content } = node
    const isBeingWritten = content !== undefined && node.isDirty && !node.unsent.isOf(content)
    if (!isBeingWritten) this.handedIn(node, node.job?.intention)
  }

  /** The times of what is handed in to be sent: they are its, not those of the version that the service has; undefined: it is as stored. */
  handedIn(node: Node, intention: Intention | undefined): void {
    const fingerprint = intention === undefined ? node.stored.fingerprint : unsentKey(intention)
    if (fingerprint === undefined || node.isScratch || node.isUnlinked) return
    const { mode, atime, mtime } = node.times
    if (mode === undefined && atime === undefined && mtime === undefined) return
    const row = { path: node.path, fingerprint, mode, atime, mtime }
    this.#journal.transaction(() => {
      this.#remember(row.path)
      this.#rows.set(row.path, row)
      this.#journal.attributes.save(row)
    })
  }

  /** What the service had at this path is gone; what is still to be sent there keeps its times. */
  left(path: string): void {
    if (this.#rows.get(path)?.fingerprint.startsWith(unsentMark) !== true) this.forget(path)
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
function isOf({ fingerprint }: AttributeRow, record: RemoteFile): boolean {
  return !fingerprint.startsWith(unsentMark) && mayBe(record, fingerprint)
}

/** The content itself, or the version that is moved: the same after a restart, and another one with the next save. */
function unsentKey({ spool, sourceFingerprint }: Intention): string {
  return unsentMark + (spool ?? sourceFingerprint ?? '')
}

function timesIn({ mode, atime, mtime }: AttributeRow): Pick<AttributeRow, 'mode' | 'atime' | 'mtime'> {
  return { mode, atime, mtime }
}
