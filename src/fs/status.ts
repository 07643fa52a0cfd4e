// Status of a filesystem: the shape of `docmount status --json`, for people and scripts.

import type { OddEntries } from '../api/types.ts'
import type { LostContent } from '../content/spool/lost-and-found.ts'
import type { Wait } from '../content/commit/schedule.ts'
import type { IntentionKind } from '../content/intention.ts'
import type { FolderRows } from '../ledger/report.ts'
import type { Rule } from '../ledger/view.ts'
import type { PinStatus } from './pins/pin-status.ts'
import type { Absence, ReachState } from '../content/reach/reach.ts'

/**
 * - `pending`: journaled, waiting for its turn or its quiet time.
 * - `sending`: being sent.
 * - `retrying`: failed; tried again at `nextAttemptAt`, any number of times.
 * - `refused`: by the service (4xx); waits for `docmount retry` or `docmount recover`.
 * - `unkept`: the disk of this machine refused the content, and the save failed. It is shown, but neither journaled nor
 *   stored in the service: lost when the drive ends. Tried again at `nextAttemptAt`, any number of times.
 */
export type UnsentState = 'pending' | 'sending' | 'retrying' | 'refused' | 'unkept'

/** One change that the service does not have yet. */
export interface Unsent {
  /** Path in the project after the change; for a delete, the path removed. */
  readonly path: string
  readonly action: 'upload' | 'replace' | 'rename' | 'delete'
  readonly state: UnsentState
  /** Bytes to send; 0 for a delete. */
  readonly bytes: number
  /** Bytes sent so far; none is stored before the service has answered. */
  readonly sentBytes: number
  readonly attempts: number
  readonly lastError: string | undefined
  /** ISO times. */
  readonly since: string
  readonly nextAttemptAt: string | undefined
  /** Path of the spooled content on this machine, if there is any. */
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
 * - `stored`: the service has it, changed last at `since`; time and size may be unknown.
 * - `unsent`: a change of it is not sent yet; `unsent` says how far it is.
 * - `refused`: by the service; `unsent` is defined if the content is kept here.
 * - `here`: on this machine only.
 * - `unknown`: the service cannot be asked now.
 */
export type Place =
  | { readonly state: 'stored'; readonly bytes: number | undefined; readonly since: string | undefined }
  | { readonly state: 'folder' | 'absent' }
  | { readonly state: 'unsent'; readonly unsent: Unsent }
  | { readonly state: 'refused'; readonly why: string; readonly unsent: Unsent | undefined }
  | { readonly state: 'here'; readonly why: string; readonly bytes: number }
  | { readonly state: 'unknown'; readonly why: string }

/** Why a path shows what it shows, and what its changes wait for. Times in ISO 8601. */
export interface Explanation {
  readonly path: string
  readonly shows: 'document' | 'folder' | 'nothing'
  /** `gone`: its folder does not show. */
  readonly rule: Rule | 'gone'
  /** The last listing of its folder, if one is known. */
  readonly listing:
    | {
        readonly askedAt: string
        readonly has: Explanation['shows']
        readonly modifiedAt?: string | undefined
      }
    | undefined
  /** When the service agreed to the last change here; listings asked for before `until` may lag behind that. */
  readonly agreed: { readonly at: string; readonly until: string } | undefined
  /** Changes at this path, to it and from it that the service does not have yet, oldest first. */
  readonly changes: readonly ExplainedChange[]
}

export interface ExplainedChange {
  readonly kind: IntentionKind
  readonly path: string
  readonly source: string | undefined
  readonly since: string
  readonly attempts: number
  readonly lastError: string | undefined
  readonly waits: {
    readonly for: Wait
    /** The time that it waits for. */
    readonly at?: string
    /** Path of the older change that it waits for. */
    readonly older?: string
  }
}

/** The rows of a drive from which what it shows is computed. */
export interface Report {
  /** Names of which more is known than their listing, and all of a folder where one shows something else than its rows say. */
  readonly folders: readonly FolderRows[]
  readonly changes: readonly ExplainedChange[]
}

/**
 * The state of a name, in ascending order. A folder has the highest state of all names below it.
 * - `stored`: the service has what is shown.
 * - `local`: on this machine only, and it stays there; or an empty folder.
 * - `undecided`: on this machine only, until its name or its program shows if it is a document or a temporary file.
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

/** How much of a document is on this machine: all, pinned; all; some; nothing. For a folder: how much of its pinned documents. */
export type Here = 'pinned' | 'cached' | 'partly' | 'no'

export interface NameStatus {
  readonly name: string
  readonly kind: 'file' | 'folder'
  readonly state: NameState
  readonly here: Here
  /** True if it, or a folder above it, is pinned, even if it is not fetched yet (`here`). */
  readonly isPinned: boolean
  /** Bytes sent so far, and in total; for a folder, sums over all names below it. */
  readonly sentBytes: number
  readonly bytesToSend: number
  /** A sentence about what is wrong, or why it is not sent. */
  readonly problem?: string
}

/** The states of a folder's known names, or of one document. */
export interface FolderStatus {
  readonly path: string
  /** Undefined if no document or folder of this name is known here. */
  readonly own: NameStatus | undefined
  readonly names: readonly NameStatus[]
  /** False for a folder whose names are not known here. */
  readonly isListed: boolean
}

/** A change of a folder: names that are new or changed, and names that are gone. */
export interface FolderChange {
  readonly own: NameStatus | undefined
  readonly names: readonly NameStatus[]
  readonly gone: readonly string[]
  readonly isListed: boolean
}

/** An extended attribute: EOPNOTSUPP if it is not one of the drive's, ENODATA if it is not set. */
export type Attribute = { readonly value: string } | { readonly errno: 'EOPNOTSUPP' | 'ENODATA' }

/** Download address of a document, which needs no key. */
export interface Link {
  /** Path in the project. */
  readonly path: string
  readonly url: string
  /** ISO time until which the address works, as the service promises. */
  readonly until: string
}

/** A document that could not be saved here. */
export interface RefusedName {
  readonly path: string
  /** The kind of file that the service does not take, in words: `zip files (archives)`. */
  readonly what: string
  /** Number of tries. */
  readonly count: number
  /** ISO time of the last try. */
  readonly at: string
}

export interface FileSystemStatus {
  readonly project: string
  readonly readOnly: boolean
  /** `doubtful`: calls fail, and the drive is finding out why. `away`: programs get what is on this machine. */
  readonly service: ReachState
  /** True while listings of any age are shown, because the service cannot be asked. */
  readonly stale: boolean
  /** Since when the service is away (epoch ms), and why. */
  readonly away: Absence | undefined
  /** True after `docmount pause`: no change is sent. */
  readonly isPaused: boolean
  /** The service's message while it refuses the key; all changes wait for another key. */
  readonly keyRefusal: string | undefined
  readonly unsent: readonly Unsent[]
  readonly unsentBytes: number
  /** Number of local-only files: editors' temporaries, and those named in `localOnly`. */
  readonly scratchFiles: number
  /** All local-only files, whatever their age. */
  readonly scratch: readonly LocalFile[]
  /** Files that have been on this machine only for more than a minute. */
  readonly localOnly: readonly LocalFile[]
  /** Names that were refused for their type in the last 24 hours, at most 1,000: nothing of them is here. */
  readonly refusedNames: readonly RefusedName[]
  /** Conflict copies that still exist. */
  readonly conflictCopies: readonly ConflictCopy[]
  /** Number of conflict copies, with those that an earlier version of docmount counted without recording their paths. */
  readonly conflicts: number
  /** Pins, and how much of each is here. */
  readonly pins: readonly PinStatus[]
  /** Content in lost+found: on this machine, and in no row of the journal. */
  readonly lost: readonly LostContent[]
  /** Files of the state folder that were damaged and are set aside. */
  readonly damaged: readonly string[]
  /** One sentence for each file found damaged or missing since the mount: what it was, and what was done about it. */
  readonly trouble: readonly string[]
  /** Listed entries that violate the service's interface: left out, or shown without the wrong fields. */
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
