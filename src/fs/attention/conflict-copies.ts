// Versions of others that were kept beside ours: named until somebody has dealt with them, which is when they are gone.

import type { ConflictRow } from '../../content/spool/journal-rows.ts'
import type { Conflicts } from '../../content/spool/tables/conflicts.ts'
import { sleep, type Clock } from '../../world/clock.ts'
import { nodeAt } from '../tree/node-at.ts'
import type { ConflictCopy } from '../status.ts'
import type { Tree } from '../tree/tree.ts'
import { folderOf, nameOf } from '../../path.ts'

/** So many folders are asked for when somebody wants to know. */
const mostFolders = 20
const longestLookMs = 3_000

export class ConflictCopies {
  readonly #journaled: Conflicts
  readonly #clock: Clock
  /** When each came to be in this run (ms of the steady clock): older listings do not have it. */
  readonly #keptAt = new Map<string, number>()
  /** As the journal has them, by copy: told also while that cannot be asked. */
  readonly #rows: Map<string, ConflictRow>
  /** How many an older docmount counted. */
  readonly counted: number

  constructor(journaled: Conflicts, clock: Clock) {
    this.#journaled = journaled
    this.#clock = clock
    this.#rows = new Map(journaled.all().map((row) => [row.copy, row]))
    this.counted = journaled.countedBefore()
  }

  kept(path: string, copy: string): void {
    const row = { path, copy, at: this.#clock.wall() }
    this.#journaled.save(row)
    this.#keptAt.set(copy, this.#clock.steady())
    this.#rows.set(copy, row)
  }

  /** Those that are there, as far as the listings that are known tell. */
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

  /** The journal has lost them: once more. */
  saveAgain(): void {
    for (const row of this.#rows.values()) this.#journaled.save(row)
  }

  /** A person has decided. Throws what the journal throws. */
  resolved(copy: string): void {
    this.#journaled.remove(copy)
    this.#keptAt.delete(copy)
    this.#rows.delete(copy)
  }

  /** Asks for the folders whose listings are not known, so that `list` tells what is gone. Never throws. */
  async look(tree: Tree): Promise<void> {
    const folders = new Set([...this.#rows.keys()].map(folderOf))
    const unknown = [...folders].filter((folder) => !isListed(tree, folder)).slice(0, mostFolders)
    const looked = Promise.all(
      unknown.map(async (folder) => {
        const node = await nodeAt(tree, folder).catch(() => undefined)
        if (node?.folder !== undefined) await Promise.resolve(tree.listing(node)).catch(() => {})
      }),
    )
    await Promise.race([looked, sleep(this.#clock, longestLookMs, { idle: true })])
  }

  #isGone(tree: Tree, copy: string): boolean {
    const folder = tree.find(folderOf(copy))
    if (folder?.folder === undefined) return false
    const listing = tree.listings.known(folder)
    // A saved listing, of an earlier run, tells no time.
    if (listing === undefined || listing.requestedAt <= (this.#keptAt.get(copy) ?? 0)) return false
    return tree.child(folder, nameOf(copy), listing) === undefined
  }
}

function isListed(tree: Tree, path: string): boolean {
  const folder = tree.find(path)
  return folder !== undefined && tree.listings.known(folder) !== undefined
}
