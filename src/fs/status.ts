// Status of a filesystem: the shape of `docmount status --json`, for people and scripts.

import type { OddEntries } from '../api/types.ts'
import type { LostContent } from '../content/spool/lost-and-found.ts'
import type { PinStatus } from './pins/pin-status.ts'
import type { Absence, ReachState } from '../content/reach/reach.ts'

/**
 * - `pending`: journaled, waiting for its turn or its quiet time.
 * - `sending`: on its way.
 * - `retrying`: failed for now; `nextAttemptAt` says when it is tried again, for as long as it takes.
 * - `refused`: the service said no (4xx); waits for `docmount retry` or `docmount recover`.
 * - `unkept`: the disk of this machine refused the content, as whoever saved it was told. It is shown, and neither journaled nor
 *   with the service: lost when the drive ends. Tried again at `nextAttemptAt`, for as long as it takes.
 */
export type UnsentState = 'pending' | 'sending' | 'retrying' | 'refused' | 'unkept'

/** One change the service has not got yet. */
export interface Unsent {
  /** Where it will be in the project (for a delete: what will be gone). */
  readonly path: string
  readonly action: 'upload' | 'replace' | 'rename' | 'delete'
  readonly state: UnsentState
  /** Bytes to send; 0 for a delete. */
  readonly bytes: number
  /** How many of them are on their way; nothing counts before the service has answered. */
  readonly sentBytes: number
  readonly attempts: number
  readonly lastError: string | undefined
  /** ISO times. */
  readonly since: string
  readonly nextAttemptAt: string | undefined
  /** The spooled content on this machine, where there is one. */
  readonly spoolFile: string | undefined
}

/** A file that is on this machine only. */
export interface LocalFile {
  readonly path: string
  readonly bytes: number
  /** Why it is not sent, in words. */
  readonly why: string
}

/** Another client's version of `path`, kept beside it as `copy`. */
export interface ConflictCopy {
  readonly path: string
  readonly copy: string
  /** ISO time. */
  readonly at: string
}

/**
 * The state of one path.
 * - `stored`: the service has it, since `since` (as it tells), with so many bytes; either may be untold.
 * - `unsent`: on its way; `unsent` says how far.
 * - `refused`: the service said no; `unsent` where the content is kept here.
 * - `here`: on this machine only.
 * - `unknown`: nobody can be asked now.
 */
export type Place =
  | { readonly state: 'stored'; readonly bytes: number | undefined; readonly since: string | undefined }
  | { readonly state: 'folder' | 'absent' }
  | { readonly state: 'unsent'; readonly unsent: Unsent }
  | { readonly state: 'refused'; readonly why: string; readonly unsent: Unsent | undefined }
  | { readonly state: 'here'; readonly why: string; readonly bytes: number }
  | { readonly state: 'unknown'; readonly why: string }

/**
 * The state of a name. Of a folder: the first of these that anything in it is in, from the last to the first.
 * - `stored`: the service has what is shown.
 * - `local`: on this machine only, and it stays there; or an empty folder.
 * - `undecided`: on this machine only, until its name or its program tells what it is.
 * - `waiting`: to be sent, or open for writing.
 * - `sending`: on its way.
 * - `conflict`: another client's version is kept beside it, or it is that version.
 * - `refused`: by the service, or by the disk of this machine.
 */
export const nameStates = [
  'stored',
  'local',
  'undecided',
  'waiting',
  'sending',
  'conflict',
  'refused',
] as const
export type NameState = (typeof nameStates)[number]

/** How much of a document is on this machine: all of it and kept here, all of it, some, nothing. Of a folder: of what is pinned there. */
export type Here = 'pinned' | 'cached' | 'partly' | 'no'

export interface NameStatus {
  readonly name: string
  readonly kind: 'file' | 'folder'
  readonly state: NameState
  readonly here: Here
  /** True where it, or a folder above it, is pinned: `here` says if it has come. */
  readonly isPinned: boolean
  /** Bytes that are sent, and that were to be; of all that is in a folder. */
  readonly sentBytes: number
  readonly bytesToSend: number
  /** A sentence about what is wrong, or why it is not sent. */
  readonly problem?: string
}

/** A folder's names, as far as they are known here; or one document. */
export interface FolderStatus {
  readonly path: string
  /** Undefined where nothing has this name, as far as is known here. */
  readonly own: NameStatus | undefined
  readonly names: readonly NameStatus[]
  /** False for a folder whose names are not known here. */
  readonly isListed: boolean
}

/** A change of a folder: the names that are new or other than before, and those that are gone. */
export interface FolderChange {
  readonly own: NameStatus | undefined
  readonly names: readonly NameStatus[]
  readonly gone: readonly string[]
  readonly isListed: boolean
}

/** An extended attribute: not supported where it is not the drive's own, no data where it is not set. */
export type Attribute = { readonly value: string } | { readonly errno: 'EOPNOTSUPP' | 'ENODATA' }

/** Download address of a document: whoever has it may download, without a key. */
export interface Link {
  /** In the project. */
  readonly path: string
  readonly url: string
  /** ISO time: the service promises it until then. */
  readonly until: string
}

/** A document that could not be saved here. */
export interface RefusedName {
  readonly path: string
  /** The kind of file that the service does not take, in words: `zip files (archives)`. */
  readonly what: string
  /** How often it was tried. */
  readonly count: number
  /** ISO time of the last try. */
  readonly at: string
}

export interface FileSystemStatus {
  readonly project: string
  readonly readOnly: boolean
  /** `doubtful`: something is wrong, and it is being found out what. `away`: everything is answered from what is here. */
  readonly service: ReachState
  /** True while listings of any age are shown, because the service cannot be asked. */
  readonly stale: boolean
  /** Since when it is away (epoch ms), and why. */
  readonly away: Absence | undefined
  /** Somebody asked for a pause: nothing is sent. */
  readonly isPaused: boolean
  /** The service's word on a key that it refuses, while it does so: everything waits for another one. */
  readonly keyRefusal: string | undefined
  readonly unsent: readonly Unsent[]
  readonly unsentBytes: number
  /** Local-only files: editors' temporaries and what is named in `localOnly`. */
  readonly scratchFiles: number
  /** All of them, whatever their age. */
  readonly scratch: readonly LocalFile[]
  /** Files that have been on this machine only for more than a minute. */
  readonly localOnly: readonly LocalFile[]
  /** Names that were refused for their type in the last 24 hours, at most 1,000: nothing of them is here. */
  readonly refusedNames: readonly RefusedName[]
  /** Versions of others that are kept beside ours and still there. */
  readonly conflictCopies: readonly ConflictCopy[]
  /** How many, with those an earlier docmount counted and did not name. */
  readonly conflicts: number
  /** Pins, and how much of each is here. */
  readonly pins: readonly PinStatus[]
  /** Content in lost+found: here, and no journal row leads to it. */
  readonly lost: readonly LostContent[]
  /** Files of the state folder that were damaged and are set aside. */
  readonly damaged: readonly string[]
  /** Files found damaged, or taken away, since the drive was mounted, and what was done about it: a sentence each. */
  readonly trouble: readonly string[]
  /** Entries the service lists that are not what its interface says: left out, or shown without what is wrong. */
  readonly oddEntries: OddEntries
  readonly openHandles: number
  readonly knownNodes: number
  readonly calls: { readonly api: number; readonly downloads: number; readonly failed: number }
  readonly stateDir: string
  readonly cacheDir: string
}

export interface DrainProgress {
  readonly unsent: number
  readonly unsentBytes: number
}
