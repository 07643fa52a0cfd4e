// Conflict copies: versions of others that were kept beside ours. `status` lists each until a person has removed or renamed it.

import type { ConflictRow } from '../../content/spool/journal-rows.ts'
import type { Conflicts } from '../../content/spool/tables/conflicts.ts'
import { sleep, type Clock } from '../../world/clock.ts'
import { nodeAt } from '../tree/node-at.ts'
import type { ConflictCopy } from '../status.ts'
import type { Tree } from '../tree/tree.ts'
import { folderOf, nameOf } from '../../path.ts'

/** Limits of one `loadListings`: number of folders, and time. */
const mostFolders = 20
const longestLoadMs = 3_000

export class ConflictCopies {
  readonly #journaled: Conflicts
  readonly #clock: Clock
  /** By copy: when it was made in this run (ms of the steady clock). Listings asked for before do not have it. */
  readonly #keptAt = new Map<string, number>()
  /** Rows of the journal, by copy: known here also while the journal cannot be read. */
  readonly #rows: Map<string, ConflictRow>
  /** Number of copies that an older version of docmount counted without recording their paths: `list` has none of them. */
  readonly counted: number

  constructor(journaled: Conflicts, clock: Clock) {
    this.#journaled = journaled
    this.#clock = clock
    this.#rows = new Map(journaled.all().map((row) => [row.copy, row]))
    this.counted = journaled.countedBefore()
  }

  /** Records a new conflict copy of the document at `path`. */
  kept(path: string, copy: string): void {
    const row = { path, copy, at: this.#clock.wall() }
    this.#journaled.save(row)
    this.#keptAt.set(copy, this.#clock.steady())
    this.#rows.set(copy, row)
  }

  /** Returns the copies that still exist, judged by the known listings, and forgets the others. */
  list(tree: Tree): ConflictCopy[] {
    return [...this.#rows.values()]
      .filter(({ copy }) => {
        if (!this.#isGone(tree, copy)) return true
        try {
          this.resolved(copy)
        } catch {
          // The next call finds the copy gone, too.
        }
        return false
      })
      .map(({ path, copy, at }) => ({ path, copy, at: new Date(at).toISOString() }))
  }

  /** Journals all of them again, after the journal has lost them. */
  saveAgain(): void {
    for (const row of this.#rows.values()) this.#journaled.save(row)
  }

  /** Forgets a copy that a person has removed, renamed or taken as resolved. Throws what the journal throws. */
  resolved(copy: string): void {
    this.#journaled.remove(copy)
    this.#keptAt.delete(copy)
    this.#rows.delete(copy)
  }

  /** Asks for the listings of their folders that are not known, so that `list` can tell which copies are gone. Never throws. */
  async loadListings(tree: Tree): Promise<void> {
    const folders = new Set([...this.#rows.keys()].map(folderOf))
    const unknown = [...folders].filter((folder) => !isListed(tree, folder)).slice(0, mostFolders)
    const loaded = Promise.all(
      unknown.map(async (folder) => {
        const node = await nodeAt(tree, folder).catch(() => undefined)
        if (node?.folder !== undefined) await Promise.resolve(tree.listing(node)).catch(() => {})
      }),
    )
    await Promise.race([loaded, sleep(this.#clock, longestLoadMs, { idle: true })])
  }

  #isGone(tree: Tree, copy: string): boolean {
    const folder = tree.find(folderOf(copy))
    if (folder?.folder === undefined) return false
    const listing = tree.listings.known(folder)
    // A listing saved in an earlier run has no time, and proves nothing.
    if (listing === undefined || listing.requestedAt <= (this.#keptAt.get(copy) ?? 0)) return false
    return tree.child(folder, nameOf(copy), listing) === undefined
  }
}

function isListed(tree: Tree, path: string): boolean {
  const folder = tree.find(path)
  return folder !== undefined && tree.listings.known(folder) !== undefined
}
