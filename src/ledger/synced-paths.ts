// Paths of the service of which more is known than their folder's listing says: changed here, until the service agreed and one cache
// lifetime more. Until then what is placed at the path shows, and nothing where nothing is. A folder that leaves its place leaves its
// rows, and one that comes finds them.

import { onRollback } from '../content/spool/transaction-steps.ts'
import { folderOf, isAtOrUnder, nameOf, pathBelow } from '../path.ts'
import type { SyncedPath } from './view.ts'

/** Rows that are worth no look at which of them are over. */
const fewRows = 1_000

const none: ReadonlyMap<string, SyncedPath> = new Map()

export interface SyncedPathsOptions {
  /** How long a listing may lag (ms). */
  readonly ttlMs: number
  readonly now: () => number
  /** True for a folder of which an older listing may still be shown. */
  isListed(folder: string): boolean
}

export class SyncedPaths {
  readonly #options: SyncedPathsOptions
  /** By folder, then by name. */
  readonly #folders = new Map<string, Map<string, SyncedPath>>()
  #count = 0
  #sweepAt = fewRows

  constructor(options: SyncedPathsOptions) {
    this.#options = options
  }

  /** Rows of the names in a folder. */
  in(folder: { readonly path: string; readonly isUnlinked?: boolean }): ReadonlyMap<string, SyncedPath> {
    // A folder puts its path together anew each time it is asked for; that of one without a name is another's.
    if (this.#count === 0 || folder.isUnlinked === true) return none
    return this.#folders.get(folder.path) ?? none
  }

  at(path: string): SyncedPath | undefined {
    return this.#folders.get(folderOf(path))?.get(nameOf(path))
  }

  /** The path changed here: no listing is believed of it until the service agrees. `highest`: the version that goes, where one is known. */
  touch(path: string, highest: string | undefined): void {
    this.#set(path, { agreedAt: undefined, until: Infinity, highest })
  }

  /** A version arrived after its name was taken away: it is the one that goes. */
  arrived(path: string, highest: string): void {
    const row = this.at(path)
    if (row !== undefined && row.agreedAt === undefined) this.#set(path, { ...row, highest })
  }

  /** The service has what is wanted here; listings may lag behind that. `highest`: the version that went, where that is known. */
  agree(path: string, highest?: string): void {
    const row = this.at(path)
    if (row !== undefined) this.stands(path, highest ?? row.highest)
  }

  /** The service has this version at the path since `agreedAt` (ms), or a folder. */
  stands(path: string, highest: string | undefined, agreedAt: number = this.#options.now()): void {
    this.#set(path, { agreedAt, until: agreedAt + this.#options.ttlMs, highest })
  }

  /** A listing that is asked for from now on is believed, whatever it says. */
  leaveToListings(path: string): void {
    const row = this.at(path)
    const now = this.#options.now()
    if (row !== undefined) this.#set(path, { ...row, agreedAt: now, until: now })
  }

  /** Drops the row: the listing alone decides. */
  drop(path: string): void {
    if (this.at(path) !== undefined) this.#set(path, undefined)
  }

  /** True where the service has not agreed yet at some name in the folder. */
  isOpenIn(folder: { readonly path: string }): boolean {
    for (const { agreedAt } of this.in(folder).values()) if (agreedAt === undefined) return true
    return false
  }

  /** Paths in this folder, and in those below, to which the service has not agreed. */
  openUnder(folder: string): string[] {
    const paths: string[] = []
    for (const [at, rows] of this.#folders) {
      if (!isAtOrUnder(at, folder)) continue
      for (const [name, { agreedAt }] of rows) if (agreedAt === undefined) paths.push(pathBelow(at, name))
    }
    return paths
  }

  #set(path: string, row: SyncedPath | undefined): void {
    const before = this.at(path)
    this.#put(path, row)
    onRollback(() => this.#put(path, before))
    if (this.#count >= this.#sweepAt) this.#sweep()
  }

  #put(path: string, row: SyncedPath | undefined): void {
    const [folder, name] = [folderOf(path), nameOf(path)]
    const rows = this.#folders.get(folder) ?? new Map<string, SyncedPath>()
    this.#count -= rows.size
    if (row === undefined) rows.delete(name)
    else rows.set(name, row)
    this.#count += rows.size
    if (rows.size === 0) this.#folders.delete(folder)
    else this.#folders.set(folder, rows)
  }

  /** Listings asked for from now on are believed of what is over; only an older one that is still shown is not. */
  #sweep(): void {
    const now = this.#options.now()
    for (const [folder, rows] of this.#folders) {
      if (this.#options.isListed(folder)) continue
      for (const [name, { until }] of rows) if (until < now) this.#put(pathBelow(folder, name), undefined)
    }
    this.#sweepAt = Math.max(fewRows, 2 * this.#count)
  }
}
