// Claims on a spool file: of nodes that show it, of rows of the journal that name it (an intention carries it, a local-only
// file has it), and of work that is about to journal it. The file lives while it is claimed, and is removed here when it no
// longer is. Other code removes only files that were never claimed: temporary ones it made itself, and leftovers at the start
// (`sweep-spool.ts`). A row counts once its transaction is committed; a file that rows named is removed once their removal is
// durable, so that a power cut does not bring back a row whose content is gone.

import type { Journal } from '../../content/spool/journal.ts'
import { isIntentionRow } from '../../content/spool/tables/intentions.ts'
import { pathOfLocalRow, rowOfLocalFile } from '../../content/spool/tables/local-files.ts'
import type { Spool } from '../../content/spool/spool.ts'
import type { SpoolFile } from '../../content/spool/spool-file.ts'
import type { Log } from '../../log.ts'
import { UndoableSet } from '../../content/spool/undo.ts'
import { nameOf } from '../../path.ts'
import type { Node } from '../tree/node.ts'
import { isOwnName } from '../tree/scratch.ts'

export interface ClaimsOptions {
  readonly journal: Journal
  readonly spool: Spool
  readonly log: Log
}

interface Claimants {
  readonly rows: Set<string>
  readonly nodes: Set<Node>
  /** A row named it, and a power cut may bring that row back. */
  wasNamed: boolean
  /** Number of times that a row began to name it. */
  namings: number
  /** A row that seals it names it, or did and may be brought back by a power cut: its content must not change. */
  isSealed: boolean
  /** Number of tasks that are about to journal the content as it is now. */
  holds: number
}

export class Claims {
  readonly #journal: Journal
  readonly #spool: Spool
  readonly #log: Log
  readonly #claimants = new Map<string, Claimants>()
  /** Called when only a node claims its content: no row names that any more, and no task holds it. */
  onFreed: (node: Node) => void = () => {}

  constructor({ journal, spool, log }: ClaimsOptions) {
    this.#journal = journal
    this.#spool = spool
    this.#log = log
    for (const [row, id] of journal.named.all()) this.#named(row, undefined, id)
    journal.named.onNamed = (row, before, now) => this.#named(row, before, now)
  }

  /** True if the file is claimed. */
  has(id: string): boolean {
    const claimants = this.#claimants.get(id)
    return claimants !== undefined && !isUnclaimed(claimants)
  }

  /** Makes the node show this file, and ends its claim on the file shown before. */
  show(node: Node, file: SpoolFile | undefined): void {
    const before = node.content
    if (before === file) return
    node.local.become(file)
    if (file !== undefined) this.#of(file.id).nodes.add(node)
    if (before === undefined) return
    this.#claimants.get(before.id)?.nodes.delete(node)
    this.#removeUnclaimed(before.id)
  }

  /** Ends the claim of a dropped node, unless its content is unsent and has a name: the service has it, or it is not needed. */
  dropped(node: Node): void {
    if (node.isUnlinked || (!node.isDirty && !node.isLocalOnly)) this.show(node, undefined)
  }

  /**
   * Runs `step` once no power cut can bring back a row that named the file, at once if none did: from then on it may be
   * changed.
   */
  onceUnnamed(file: SpoolFile, step: () => void): void {
    const claimants = this.#claimants.get(file.id)
    if (claimants?.wasNamed !== true) return step()
    const { namings, rows } = claimants
    const isOver = rows.size === 0
    this.#journal.onceDurable(() => {
      if (isOver && claimants.namings === namings) claimants.wasNamed = false
      step()
    })
  }

  /** Lets `adopt` take over the file, which only the node has (`onceUnnamed`); it is removed if that fails. */
  async giveAway(node: Node, adopt: () => Promise<void>): Promise<void> {
    const { content } = node
    if (content === undefined) return
    node.local.become(undefined)
    this.#claimants.delete(content.id)
    this.#spool.forget(content.id)
    try {
      await adopt()
    } catch (error) {
      await this.#spool.remove(content.id)
      throw error
    }
  }

  /** True if only the node, and its own row as a local-only file, claim its content. */
  isOnlyOf(node: Node): boolean {
    const claimants = node.content === undefined ? undefined : this.#claimants.get(node.content.id)
    if (claimants === undefined) return true
    if (claimants.holds > 0 || claimants.nodes.size > 1) return false
    for (const row of claimants.rows)
      if (isIntentionRow(row) || row !== rowOfLocalFile(node.path)) return false
    return true
  }

  /** True if the content may be changed in place: sealed content never changes, since a power cut may bring back its row. */
  mayChange(node: Node): boolean {
    const isSealed = node.content !== undefined && this.#claimants.get(node.content.id)?.isSealed === true
    return !isSealed && this.isOnlyOf(node)
  }

  /** Keeps the content unchanged while `work` runs: a write meanwhile goes into a copy. */
  async hold<T>(file: SpoolFile, work: () => Promise<T>): Promise<T> {
    this.#of(file.id).holds++
    try {
      return await work()
    } finally {
      this.#of(file.id).holds--
      this.#removeUnclaimed(file.id)
    }
  }

  #named(row: string, before: string | undefined, now: string | undefined): void {
    if (now !== undefined) {
      const claimants = this.#of(now)
      claimants.rows.add(row)
      claimants.wasNamed = true
      claimants.namings++
      if (isSealing(row)) claimants.isSealed = true
    }
    if (before === undefined) return
    this.#claimants.get(before)?.rows.delete(row)
    if (isSealing(row)) this.#unsealLater(before)
    this.#removeUnclaimed(before)
  }

  #unsealLater(id: string): void {
    const claimants = this.#claimants.get(id)
    if (claimants === undefined || hasSeal(claimants)) return
    const { namings } = claimants
    this.#journal.onceDurable(() => {
      if (claimants.namings === namings) claimants.isSealed = hasSeal(claimants)
    })
  }

  #of(id: string): Claimants {
    let claimants = this.#claimants.get(id)
    if (claimants === undefined) {
      claimants = {
        rows: new Set(),
        nodes: new UndoableSet(),
        wasNamed: false,
        namings: 0,
        isSealed: false,
        holds: 0,
      }
      this.#claimants.set(id, claimants)
    }
    return claimants
  }

  /** Removes the file if it is unclaimed after the transaction under way: another row may claim it in that. */
  #removeUnclaimed(id: string): void {
    queueMicrotask(() => {
      const claimants = this.#claimants.get(id)
      if (claimants === undefined) return
      this.#tellFreed(claimants)
      if (!isUnclaimed(claimants)) return
      if (claimants.wasNamed) this.#journal.onceDurable(() => this.#remove(id))
      else this.#remove(id)
    })
  }

  #tellFreed({ rows, nodes, holds }: Claimants): void {
    const [node] = nodes
    if (node === undefined || nodes.size > 1 || rows.size > 0 || holds > 0) return
    try {
      this.onFreed(node)
    } catch (error) {
      // The content stays in the spool, and is offered again at its last close.
      this.#log.warn({ path: node.path, error: String(error) }, 'the cache did not take a document over')
    }
  }

  #remove(id: string): void {
    const claimants = this.#claimants.get(id)
    if (claimants === undefined || !isUnclaimed(claimants)) return
    this.#claimants.delete(id)
    this.#spool.remove(id).catch((error: unknown) => {
      this.#log.warn(
        { spool: id, error: String(error) },
        'a spool file that is not needed any more could not be removed',
      )
    })
  }
}

/**
 * True for a row whose content is sent as it is, or may be: of an intention, or of a local-only file, which is sent when it was
 * left alone or its document is removed.
 */
function isSealing(row: string): boolean {
  const path = pathOfLocalRow(row)
  return isIntentionRow(row) || (path !== undefined && !isOwnName(nameOf(path)))
}

function hasSeal({ rows }: Claimants): boolean {
  for (const row of rows) if (isSealing(row)) return true
  return false
}

function isUnclaimed({ rows, nodes, holds }: Claimants): boolean {
  return rows.size === 0 && nodes.size === 0 && holds === 0
}
