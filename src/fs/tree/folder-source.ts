// Where a folder's names come from: the service, or, while it is away, what it last said.

import { NetworkError } from '../../api/errors.ts'
import type { Files, FolderListing, OddEntries, RemoteFile } from '../../api/types.ts'
import { ErrnoError } from '../../errno-error.ts'
import type { Log } from '../../log.ts'
import { nameMaxBytes } from '../../path.ts'
import { mayMeanMissing } from '../../content/remote-lookup.ts'
import type { Reach } from '../../content/reach/reach.ts'
import type { SyncedPaths } from '../../ledger/synced-paths.ts'
import type { Told } from '../../ledger/view.ts'
import type { SavedListings } from '../../content/spool/saved-listings.ts'
import type { Listing } from './listings.ts'
import type { Node } from './node.ts'
import { ListedNames } from './listed-names.ts'
import { isInTrash } from './trash.ts'

/** No operation but a waiting close may wait longer than 15 s for a service that says nothing: one that speaks slowly is listened to. */
const deadlineMs = 14_000
/** When a saved listing was asked for is not known: it is older than everything that happened here. */
export const longAgo = 0

export interface FolderSourceOptions {
  readonly files: Files
  readonly reach: Reach
  readonly saved: SavedListings
  readonly synced: SyncedPaths
  readonly ttlMs: number
  readonly now: () => number
  /** As people read it (ms). */
  readonly wall: () => number
  readonly log: Log
  /** True where the service still has a former folder at this path or above, which is to be removed. */
  isOfFormerFolder(path: string): boolean
  /** The folder's listing as it is known by now. */
  known(folder: Node): Listing | undefined
  /** The parent's listing, asked for now: it decides whether a folder is gone. */
  loadFresh(folder: Node): Promise<Listing>
}

export class FolderSource {
  readonly #options: FolderSourceOptions
  /** Folders with entries that are not what the interface says. */
  readonly #odd = new Map<string, OddEntries>()

  constructor(options: FolderSourceOptions) {
    this.#options = options
  }

  /**
   * The folder's listing now, or the last one known where the service is away: what came while it was asked, a saved one, or
   * `previous`, which was known when it was. Throws ENOENT and ENOTDIR where it is no folder any more, ApiError, NetworkError.
   */
  async listing(folder: Node, previous: Listing | undefined): Promise<Listing> {
    const { reach, now } = this.#options
    const requestedAt = now()
    if (isInTrash(folder.path)) return { names: new ListedNames(), requestedAt }
    // It has been made here since, and nothing in it is sent before the former one has gone.
    if (folder.folder?.isMadeHere === true && this.#options.isOfFormerFolder(folder.path))
      return { names: new ListedNames(), requestedAt }
    try {
      return { names: await this.#ask(folder), requestedAt }
    } catch (error) {
      if (!reach.isAway || !isUnreachable(error)) throw error
      const last = this.#options.known(folder) ?? this.#remembered(folder) ?? previous
      if (last === undefined) throw error
      return last
    }
  }

  /** For when the service is away. A change made here, which the listing may not show yet, is saved beside it. */
  save({ path, folder }: Node, { names }: Listing): void {
    const { saved, synced, ttlMs, now, wall } = this.#options
    const agreed = [...synced.in({ path })].filter(([, { agreedAt }]) => agreedAt !== undefined)
    const placed = (name: string): Node | undefined =>
      folder?.kept.has(name) === true ? folder.children.get(name) : undefined
    const isAhead = (name: string): boolean => placed(name)?.isAhead === true
    saved.save(
      path,
      names,
      agreed.map(([name]) => name).filter((name) => isAhead(name)),
    )
    for (const [name, { until, highest }] of agreed) {
      if (isAhead(name)) continue
      const shown = placed(name)
      const record: Told | undefined = shown?.folder === undefined ? shown?.remote : { kind: 'folder', name }
      saved.changed(path, name, record, { at: wall() - (now() - until) - ttlMs, highest })
    }
  }

  /** Entries that are left out or repaired, in all folders as they were listed last. */
  get oddEntries(): OddEntries {
    let [leftOut, repaired] = [0, 0]
    for (const odd of this.#odd.values()) {
      leftOut += odd.leftOut
      repaired += odd.repaired
    }
    return { leftOut, repaired }
  }

  /** The listing as it was saved last, also by an earlier run; an empty one for a folder made here. */
  #remembered(folder: Node): Listing | undefined {
    const names = this.#options.saved.load(folder.path)
    if (names !== undefined) return { names: new ListedNames(names), requestedAt: longAgo }
    return folder.folder?.isMadeHere === true ? { names: new ListedNames(), requestedAt: longAgo } : undefined
  }

  async #ask(folder: Node, isLastTime = false): Promise<Listing['names']> {
    const { path } = folder
    let answer: RemoteFile | FolderListing
    try {
      answer = await this.#options.files.get(path, { deadlineMs, isDeadlineForSilence: true })
    } catch (error) {
      if (!mayMeanMissing(error) || folder.parent === undefined) throw error
      // Made here, or holding something unsent: it is a folder although the service has none.
      if (isHere(folder)) return new ListedNames()
      const above = await this.#options.loadFresh(folder.parent)
      const isListed = above.names.get(folder.name)?.kind === 'folder'
      // It came meanwhile: a late answer of a folder that was on its way.
      if (isListed && !isLastTime) return await this.#ask(folder, true)
      if (isListed) throw error
      throw new ErrnoError('ENOENT', `${path} is gone from the service`, { cause: error })
    }
    if (answer.kind === 'file') {
      // The document that stood here before our mkdir has not been deleted yet.
      if (isHere(folder)) return new ListedNames()
      throw new ErrnoError('ENOTDIR', `${path} is a document now`)
    }
    return this.#namesOf(path, answer)
  }

  #namesOf(path: string, { entries, odd }: FolderListing): Listing['names'] {
    const names = new ListedNames(entries.filter(({ name }) => Buffer.byteLength(name) <= nameMaxBytes))
    this.#count(path, { ...odd, leftOut: odd.leftOut + entries.length - names.size })
    return names
  }

  #count(path: string, odd: OddEntries): void {
    if (odd.leftOut === 0 && odd.repaired === 0) {
      this.#odd.delete(path)
      return
    }
    if (!this.#odd.has(path))
      this.#options.log.warn(
        { path, ...odd },
        'the service lists entries that are not what its interface says',
      )
    this.#odd.set(path, odd)
  }
}

/** A listing of an earlier run, or of a folder the service has never seen. */
export function isRemembered({ requestedAt }: Listing): boolean {
  return requestedAt === longAgo
}

/** A folder whatever the service says: made here, or holding something unsent. */
function isHere({ folder }: Node): boolean {
  return folder !== undefined && (folder.isMadeHere || folder.kept.size > 0)
}

/** True where no answer came: whether the service is there at all is not known. */
export function isUnreachable(error: unknown): error is NetworkError {
  return error instanceof NetworkError && error.kind !== 'protocol'
}
