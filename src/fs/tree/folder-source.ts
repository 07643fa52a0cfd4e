// Where a folder's names come from: the service, or, from a start without it until it answers, what was last saved.

import { NetworkError } from '../../api/errors.ts'
import type { Files, FolderListing, RemoteFile } from '../../api/types.ts'
import { ErrnoError } from '../../errno-error.ts'
import { mayMeanMissing } from '../../content/remote-lookup.ts'
import type { SavedListings } from '../../content/spool/saved-listings.ts'
import type { Listing } from './listings.ts'
import type { Node } from './node.ts'

/** No operation but a waiting close may block longer than 15 s. */
const deadlineMs = 14_000
/** While saved listings stand in for a service out of reach, nobody waits long for it. */
const staleDeadlineMs = 1_500

export interface FolderSourceOptions {
  readonly files: Files
  readonly saved: SavedListings
  /** The parent's listing, asked for now: it decides whether a folder is gone. */
  loadFresh(folder: Node): Promise<Listing>
}

export class FolderSource {
  readonly #options: FolderSourceOptions
  /** True from a start without the service until it answers. */
  isStale = false

  constructor(options: FolderSourceOptions) {
    this.#options = options
  }

  /** The folder's names now. Throws ENOENT and ENOTDIR where it is none any more, ApiError, NetworkError. */
  async names(folder: Node): Promise<Listing['names']> {
    const { saved } = this.#options
    try {
      const names = await this.#ask(folder)
      saved.save(folder.path, names)
      return names
    } catch (error) {
      const remembered = this.isStale && isUnreachable(error) ? saved.load(folder.path) : undefined
      if (remembered === undefined) throw error
      return remembered
    }
  }

  async #ask(folder: Node): Promise<Listing['names']> {
    const { path } = folder
    const how = this.isStale ? { deadlineMs: staleDeadlineMs, attempts: 1 } : { deadlineMs }
    let answer: RemoteFile | FolderListing
    try {
      answer = await this.#options.files.get(path, how)
    } catch (error) {
      if (!mayMeanMissing(error) || folder.parent === undefined) throw error
      // Made here, or holding something unsent: it is a folder although the service has none.
      if (isHere(folder)) return new Map()
      const above = await this.#options.loadFresh(folder.parent)
      if (above.names.get(folder.name)?.kind === 'folder') throw error
      throw new ErrnoError('ENOENT', `${path} is gone from the service`, { cause: error })
    }
    if (answer.kind === 'file') {
      // What stood here before our mkdir has not been deleted yet.
      if (isHere(folder)) return new Map()
      throw new ErrnoError('ENOTDIR', `${path} is a document now`)
    }
    return new Map(answer.entries.map((entry) => [entry.name, entry]))
  }
}

/** A folder whatever the service says: made here, or holding something unsent. */
function isHere({ folder }: Node): boolean {
  return folder !== undefined && (folder.isMadeHere || folder.kept.size > 0)
}

/** True where no answer came: whether the service is there at all is not known. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof NetworkError && error.kind !== 'protocol'
}
