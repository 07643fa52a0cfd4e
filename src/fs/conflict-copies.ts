// Versions of others that were kept beside ours: named until somebody has dealt with them, which is when they are gone.

import type { Journal } from '../content/spool/journal.ts'
import type { Clock } from '../clock.ts'
import { nodeAt } from './node-at.ts'
import type { ConflictCopy } from './status.ts'
import type { Superblock } from './superblock.ts'

/** So many folders are asked for when somebody wants to know. */
const mostFolders = 20
const patienceMs = 3_000

export class ConflictCopies {
  readonly #journal: Journal
  readonly #clock: Clock
  /** When each came to be in this run (ms of the steady clock): older listings do not have it. */
  readonly #keptAt = new Map<string, number>()

  constructor(journal: Journal, clock: Clock) {
    this.#journal = journal
    this.#clock = clock
  }

  kept(path: string, copy: string): void {
    this.#keptAt.set(copy, this.#clock.steady())
    this.#journal.saveConflict({ path, copy, at: this.#clock.wall() })
  }

  /** Those that are there, as far as the listings that are known tell. */
  list(sb: Superblock): ConflictCopy[] {
    const rows = this.#journal.conflicts()
    return rows
      .filter(({ copy }) => {
        if (!this.#isGone(sb, copy)) return true
        this.#journal.removeConflict(copy)
        this.#keptAt.delete(copy)
        return false
      })
      .map(({ path, copy, at }) => ({ path, copy, at: new Date(at).toISOString() }))
  }

  /** Asks for the folders whose listings are not known, so that `list` tells what is gone. Never throws. */
  async look(sb: Superblock): Promise<void> {
    const folders = new Set(this.#journal.conflicts().map(({ copy }) => folderOf(copy)))
    const unknown = [...folders].filter((folder) => !isListed(sb, folder)).slice(0, mostFolders)
    const looked = Promise.all(
      unknown.map(async (folder) => {
        const node = await nodeAt(sb, folder).catch(() => undefined)
        if (node?.folder !== undefined) await Promise.resolve(sb.tree.listing(node)).catch(() => {})
      }),
    )
    const patience = AbortSignal.timeout(patienceMs)
    await Promise.race([
      looked,
      new Promise((over) => patience.addEventListener('abort', over, { once: true })),
    ])
  }

  #isGone(sb: Superblock, copy: string): boolean {
    const folder = sb.tree.find(folderOf(copy))
    if (folder?.folder === undefined) return false
    const listing = sb.tree.listings.known(folder)
    // A saved listing, of an earlier run, tells no time.
    if (listing === undefined || listing.requestedAt <= (this.#keptAt.get(copy) ?? 0)) return false
    return sb.tree.child(folder, copy.slice(copy.lastIndexOf('/') + 1), listing) === undefined
  }
}

function isListed(sb: Superblock, path: string): boolean {
  const folder = sb.tree.find(path)
  return folder !== undefined && sb.tree.listings.known(folder) !== undefined
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/'
}
