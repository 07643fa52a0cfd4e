// How a filesystem is made and steered: what the daemon relies on beyond `Operations`.

import type { Files } from '../api/types.ts'
import type { World } from '../world/world.ts'
import type { Log } from '../log.ts'
import type { Change } from './change.ts'
import type { Former, RestoreAnswer, RestoreRequest } from './former.ts'
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
  FileSystemStatus,
  FolderChange,
  FolderStatus,
  Link,
  Place,
  Unsent,
} from './status.ts'

export interface FileSystemOptions {
  readonly files: Files
  /** Journal and spool: loss is data loss. Locked: EBUSY when another daemon has it. */
  readonly stateDir: string
  /** Blocks: may be deleted at any time. */
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
  /** Mimetype for names the service has no type for; absent = EOPNOTSUPP. */
  readonly unsupportedAs?: string
  readonly onConflict?: 'keep' | 'overwrite'
  /** Folder renames of more files answer EXDEV. Default 1,000. */
  readonly renameLimit?: number
  /** How long a temporary file must have been left alone to be taken for a document, and sent. Default 60 s. */
  readonly leftAloneMs?: number
  /** How long what programs here replace or delete is kept on this machine, in ms; 0 = not at all. Default 30 days. */
  readonly undoMs?: number
  /** Bytes on disk for that. Default 2 GiB; 0 = none. */
  readonly undoSizeBytes?: number
  readonly uid?: number
  readonly gid?: number
  /** Names conflict copies. Default os.hostname(). */
  readonly hostName?: string
  readonly log?: Log
  /** Told of every operation when it was answered; absent = nothing is measured. */
  readonly onOperation?: (record: OperationRecord) => void
  /** Told of what a person should hear of although they asked nothing. */
  readonly onNotice?: (notice: Notice) => void
  /** Called with every change that the service took or refused, and with every conflict copy. Never throws. */
  readonly onChange?: (change: Change) => void
  /** Time, chance, disk, network. Default: this machine's. */
  readonly world?: World
}

/** A project as a POSIX-shaped object. */
export interface FileSystem extends Operations {
  /** From now on changes found in the service are told to this door. */
  attachNotifier(notifier: Notifier): void
  /**
   * From now on this door is told what other clients did in the folders that it watches. Answers the cache lifetime (ms): so
   * often they are to be listed anew.
   */
  attachWatcher(watcher: Watcher): number
  /** The folder of this number, or that of the document; undefined for a node that is gone. */
  folderAt(ino: number): { readonly ino: number; readonly path: string } | undefined
  /** A node as it is shown now. Asks nobody, and no program counts as told of it. Undefined for one that is not known. */
  peek(ino: number): Attributes | undefined
  /** The same by its name, as the folder's last listing says. */
  peekName(folder: number, name: string): Attributes | undefined
  /** Lists a folder anew, if the service is there. Never throws. */
  listAnew(folder: number): Promise<void>
  status(): FileSystemStatus
  /** Tells the state of one path; asks the service where no listing is fresh. Never throws. */
  place(path: string): Promise<Place>
  /** States of a folder's names, or of one document, from what is known here: the service is not asked. */
  folder(path: string): FolderStatus
  /** Tells the states of a folder's names, and each change of them, until the signal aborts. */
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
  /** Names this conflict copy no longer: somebody has dealt with it. */
  conflictResolved(copy: string): void
  /** Names refused names at or under the path no longer. Answers how many. */
  dismissNames(path: string): number
  /** Tells of damage found so far no longer. Answers the files that were set aside, which stay, as they are called now. */
  dismissDamage(): readonly string[]
  /** Looks again where `status` names what may be gone by now. Never throws. */
  lookAgain(): Promise<void>
  /** Looks whether what is kept on this machine is where it was put, and sees to it where it is not. Never throws. */
  checkStateDir(): void
  /** Changes not sent yet at or under a path. */
  unsent(path: string): readonly Unsent[]
  /** Resolves when nothing at or under the path is unsent; rejects with ETIMEDOUT, or with the refusal. */
  wait(path: string, options: { timeoutMs: number; signal?: AbortSignal }): Promise<void>
  /** Forgets what is cached at and under a path, so that the next look asks the service. */
  refresh(path: string): Promise<void>
  /** Tries refused and waiting changes at or under the path again, now. Answers how many. */
  retry(path: string): number
  /** Sends nothing until `resume`: what is saved stays here. What is under way is finished. */
  pause(): void
  resume(): void
  /**
   * Keeps what is at a path, and what will be, on this machine. Rejects with ENOENT where nothing has this name while the
   * service can be asked.
   */
  pin(path: string, options: { signal: AbortSignal }): Promise<PinAnswer>
  /** Ends the pin; the documents kept for it may be evicted from now on. Throws ENOENT where it is not pinned. */
  unpin(path: string): void
  /**
   * Ends the pins at and under a path, and removes what is kept of documents there; unsent content stays. Rejects with EBUSY where
   * a folder above is pinned, ENOENT, and what listing it throws.
   */
  free(path: string, options: { signal: AbortSignal }): Promise<FreeAnswer>
  pins(): readonly PinStatus[]
  /** Brings what is at and under a path into the disk cache, once. Rejects with ENOENT, and what listing it throws. */
  fetch(
    path: string,
    options: { signal: AbortSignal; onProgress?: (progress: FetchProgress) => void },
  ): Promise<FetchAnswer>
  cache(): Promise<CacheStatus>
  /** Removes what is cached, and what is pinned if asked for. Answers what was there. */
  clearCache(options: { withPinned: boolean }): Promise<CacheStatus>
  /** Copies the content at a path as this machine has it (spool first) to a local file outside the mount. */
  recover(path: string, destination: string): Promise<void>
  /** Moves what is in lost+found to a local folder outside the mount, under its paths. Answers the new files. */
  recoverLost(destination: string): Promise<readonly string[]>
  /** Versions at and under a path that programs here replaced or deleted lately, latest first. */
  former(path: string): Promise<readonly Former[]>
  /**
   * Brings a former version back, or all that was deleted under a folder. Rejects with ENOENT where none is known, ENODATA where its
   * bytes were not kept, and with what saving it throws.
   */
  restore(request: RestoreRequest, options: { signal: AbortSignal }): Promise<RestoreAnswer>
  /** Removes all that is kept of former versions. Answers how many bytes that were. */
  emptyUndo(): Promise<number>
  /** Sends everything, whatever its quiet time or backoff, until done, refused or out of time. Answers what is left. */
  drain(options: {
    timeoutMs: number
    onProgress?: (progress: DrainProgress) => void
  }): Promise<readonly Unsent[]>
  /** Stops all work and closes the journal; what is unsent stays journaled. */
  close(): Promise<void>
}

/** One operation, when it was answered. */
export interface OperationRecord {
  readonly operation: keyof Operations
  /** In the project; two where something is moved or copied. */
  readonly path: string
  /** Bytes of a read or write; `ok`; or the errno. */
  readonly result: string | number
  readonly elapsedUs: number
}
