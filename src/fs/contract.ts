// Options of a filesystem, and its methods beside `Operations`: the interface for the daemon.

import type { Files } from '../api/types.ts'
import type { World } from '../world/world.ts'
import type { Log } from '../log.ts'
import type { Change } from './change.ts'
import type { Former, ToRestore } from './former.ts'
import type { Notice } from './notice.ts'
import type {
  CacheStatus,
  FetchAnswer,
  FetchProgress,
  FreeAnswer,
  PinAnswer,
  PinStatus,
} from './pins/pin-status.ts'
import type { Attributes, Notifier, Operations, Watcher } from './operations.ts'
import type {
  Attribute,
  DrainProgress,
  Explanation,
  FileSystemStatus,
  FolderChange,
  FolderStatus,
  Link,
  Place,
  Report,
  Unsent,
} from './status.ts'

export interface FileSystemOptions {
  readonly files: Files
  /** Folder of journal and spool: losing it loses data. Locked: EBUSY if another daemon has it. */
  readonly stateDir: string
  /** Folder of cached blocks: may be deleted at any time. */
  readonly cacheDir: string
  /** The greatest age of anything shown. Default 30 s; EINVAL at 15 minutes and above. */
  readonly cacheTtlMs?: number
  /** How long close, fsync and rename wait for the service. Default 10 s; 0 = write-back; Infinity = strict. */
  readonly closeWaitMs?: number
  /** Bytes of blocks on disk. Default 5 GiB; 0 = none. */
  readonly cacheSizeBytes?: number
  /** Bytes on disk for what is pinned. Default 10 GiB. */
  readonly pinSizeBytes?: number
  /** Bytes of memory the drive may take, roughly; EINVAL under 192 MiB. Default 512 MiB. */
  readonly memoryBytes?: number
  readonly readOnly?: boolean
  /** Mimetype for documents of types that the service does not take; absent = EOPNOTSUPP. */
  readonly unsupportedAs?: string
  readonly onConflict?: 'keep' | 'overwrite'
  /** Most documents in a folder that can be renamed; EXDEV for more. Default 1,000. */
  readonly renameLimit?: number
  /** Quiet time after which a temporary file is taken for a document, and sent. Default 60 s. */
  readonly temporaryMs?: number
  /** Time (ms) for which versions that programs here replace or delete are kept on this machine. Default 30 days; 0 = none. */
  readonly undoMs?: number
  /** Bytes on disk for these versions. Default 2 GiB; 0 = none. */
  readonly undoSizeBytes?: number
  /** Lock files of LibreOffice and Office are stored in the service, for the other drives that share theirs. Default: they stay here. */
  readonly shareLocks?: boolean
  /** Versions of fewer bytes are downloaded first, if they are not on this machine. Default 0. */
  readonly undoFetchBytes?: number
  readonly uid?: number
  readonly gid?: number
  /** Name of this machine, for the names of conflict copies. Default os.hostname(). */
  readonly hostName?: string
  readonly log?: Log
  /** Called with every operation after it has returned; absent = nothing is measured. */
  readonly onOperation?: (record: OperationRecord) => void
  /** Called with every event that a person should be notified of. */
  readonly onNotice?: (notice: Notice) => void
  /** Called with every change that the service took or refused, and with every conflict copy. Never throws. */
  readonly onChange?: (change: Change) => void
  /** Time, chance, disk, network. Default: this machine's. */
  readonly world?: World
}

/** A project as a POSIX-shaped object. */
export interface FileSystem extends Operations {
  /** Reports changes found in the service to this door from now on. */
  attachNotifier(notifier: Notifier): void
  /**
   * Reports changes of other clients in watched folders to this door from now on. Returns the cache lifetime (ms): the door
   * lists its watched folders anew at this interval.
   */
  attachWatcher(watcher: Watcher): number
  /** The folder of this number, or that of the document; undefined for a node that is gone. */
  folderAt(ino: number): { readonly ino: number; readonly path: string } | undefined
  /** The attributes of a known node. Asks no service, and does not count as an access: no program has seen this version. */
  peek(ino: number): Attributes | undefined
  /** As `peek`, for a name in the last listing of a folder. */
  peekName(folder: number, name: string): Attributes | undefined
  /** Lists a folder anew, if the service is reachable. Never throws. */
  listAnew(folder: number): Promise<void>
  status(): FileSystemStatus
  /** Returns the state of one path; asks the service where no listing is fresh. Never throws. */
  place(path: string): Promise<Place>
  /** Explains what a path shows, and what its changes wait for; asks the service where no listing is fresh. Never throws. */
  explain(path: string): Promise<Explanation>
  /** Returns the rows from which what the drive shows is computed. Asks no service. */
  report(): Report
  /** Returns the states of a folder's names, or of one document, as known here: the service is not asked. */
  folder(path: string): FolderStatus
  /** Reports the states of a folder's names, and each change of them, until the signal aborts. */
  watchFolder(
    path: string,
    options: { signal: AbortSignal; onChange: (change: FolderChange) => void },
  ): Promise<void>
  attribute(ino: number, name: string): Attribute
  /** Pins, or ends the pin; `value` undefined removes the attribute. Rejects with the errno. */
  setAttribute(
    ino: number,
    name: string,
    change: { readonly value: string | undefined; readonly signal: AbortSignal },
  ): Promise<void>
  /** Asks the service for a document's download address. Throws ErrnoError where it has none that is shown here; ApiError; NetworkError. */
  link(path: string): Promise<Link>
  /** Removes a conflict copy from `status`: a person has decided about it. */
  conflictResolved(copy: string): void
  /** Removes the refused names at or under the path from `status`. Returns how many. */
  dismissNames(path: string): number
  /** Removes the damage found so far from `status`. Returns the new names of the damaged files, which stay on the disk. */
  dismissDamage(): readonly string[]
  /** Lists the folders of conflict copies, which may be gone by now, so that the next `status` is up to date. Never throws. */
  lookAgain(): Promise<void>
  /** Checks that the files of `stateDir` are still there, and replaces missing ones. Never throws. */
  checkStateDir(): void
  /** Returns the changes at or under a path that are not sent yet. */
  unsent(path: string): readonly Unsent[]
  /** Resolves when nothing at or under the path is unsent; rejects with ETIMEDOUT, or with the refusal. */
  wait(path: string, options: { timeoutMs: number; signal?: AbortSignal }): Promise<void>
  /** Forgets what is cached at and under a path, so that the next access asks the service. */
  refresh(path: string): Promise<void>
  /** Tries refused and waiting changes at or under the path again, now. Returns how many. */
  retry(path: string): number
  /** Sends nothing until `resume`: saves stay here. Changes that are under way are finished. */
  pause(): void
  resume(): void
  /**
   * Keeps the documents at and under a path, also future ones, on this machine. Rejects with ENOENT if nothing has this name
   * while the service can be asked.
   */
  pin(path: string, options: { signal: AbortSignal }): Promise<PinAnswer>
  /** Ends the pin; the documents kept for it may be evicted from now on. Throws ENOENT if the path is not pinned. */
  unpin(path: string): void
  /**
   * Ends the pins at and under a path, and removes the cached content of its documents; unsent content stays. Rejects with EBUSY if
   * a folder above is pinned, ENOENT, and with errors of listing it.
   */
  free(path: string, options: { signal: AbortSignal }): Promise<FreeAnswer>
  pins(): readonly PinStatus[]
  /** Brings the documents at and under a path into the disk cache, once. Rejects with ENOENT, and with errors of listing it. */
  fetch(
    path: string,
    options: { signal: AbortSignal; onProgress?: (progress: FetchProgress) => void },
  ): Promise<FetchAnswer>
  cache(): Promise<CacheStatus>
  /** Empties the disk cache; pinned documents stay unless `withPinned`. Returns the state before. */
  clearCache(options: { withPinned: boolean }): Promise<CacheStatus>
  /**
   * Copies the content at a path as this machine has it (spool first) to a local file outside the mount. Throws ENOENT, EEXIST.
   */
  recover(path: string, destination: string): Promise<void>
  /** Moves the files of lost+found to a local folder outside the mount, under their paths. Returns the new files. */
  recoverLost(destination: string): Promise<readonly string[]>
  /** False: what programs replace or delete is not kept. */
  readonly keepsFormer: boolean
  /** Returns the versions at and under a path that programs here replaced or deleted, latest first. */
  former(path: string): Promise<readonly Former[]>
  /**
   * Returns the version that a document had at a time (ISO), or last; or all documents deleted under a folder. Rejects with ENOENT if
   * none is known, ENODATA if its bytes were not kept, EROFS.
   */
  toRestore(path: string, at: string | undefined): Promise<ToRestore>
  /** Notes that these versions were saved again, and are no longer in the trash. */
  restored(ids: readonly string[]): Promise<void>
  /** Deletes the kept bytes of all former versions. Returns how many. */
  emptyUndo(): Promise<number>
  /** Sends everything, without its quiet time, until done, refused or out of time; backoffs go on. Returns the others. */
  drain(options: {
    timeoutMs: number
    onProgress?: (progress: DrainProgress) => void
  }): Promise<readonly Unsent[]>
  /** Stops all work and closes the journal; what is unsent stays journaled. */
  close(): Promise<void>
}

/** One operation after it has returned. */
export interface OperationRecord {
  readonly operation: keyof Operations
  /** Path in the project; two paths for a rename or a copy. */
  readonly path: string
  /** Bytes of a read or write; `ok`; or the errno. */
  readonly result: string | number
  readonly elapsedUs: number
}
