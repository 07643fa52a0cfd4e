// Protocol of a mount's control socket. The client sends one JSON line; the daemon sends lines of progress and one with the
// answer, and closes the connection. A client that closes it first cancels its command.

import type {
  CacheStatus,
  FetchAnswer,
  FetchProgress,
  FreeAnswer,
  PinAnswer,
  PinStatus,
} from '../fs/pins/pin-status.ts'
import type { Table } from '../api/table-types.ts'
import type { ReconcileRun } from '../tables-drive/reconcile-run.ts'
import type {
  Explanation,
  FileSystemStatus,
  FolderChange,
  FolderStatus,
  Link,
  Place,
  Report,
  Unsent,
} from '../fs/status.ts'
import type { Former, RestoreAnswer, RestoreRequest } from '../fs/former.ts'
import type { Keep, Resolved } from './resolve-conflict.ts'
import type { DoorName, WebdavAddress } from './session-door.ts'

/**
 * - `live`: the drive works.
 * - `draining`: it sends unsent changes before it ends.
 * - `unmounting`: it asks the kernel to unmount; repeated while programs use the mount.
 * - `detached`: gone from the folder tree; programs with open files are still served.
 */
export type SessionState = 'live' | 'draining' | 'unmounting' | 'detached'

/** One mount, as `docmount status --json` shows it. */
export interface MountStatus extends FileSystemStatus {
  /** For a drive without a mount: the address of its WebDAV door. */
  readonly mountpoint: string
  readonly baseUrl: string
  readonly state: SessionState
  readonly pid: number
  readonly driver: DoorName
  /** Present if the drive has a WebDAV door. */
  readonly webdav?: WebdavAddress | undefined
  readonly startedAt: string
  readonly logFile: string | undefined
  /** Limit of bytes per second, each way; 0 = none. */
  readonly bytesPerSecond: number
}

export interface UnmountProgress {
  readonly state: SessionState
  readonly unsent: number
  /** Bytes not sent yet. */
  readonly leftBytes: number
  /** Text that names the users of a busy mount; absent if there are none. */
  readonly busy?: string
}

export interface UnmountAnswer {
  /** Changes that stay in the journal, and are sent after the next mount. */
  readonly unsent: readonly Unsent[]
  /** True when the mount was detached under programs that still use it. */
  readonly isDetached: boolean
}

export interface TablesAnswer {
  readonly tables: readonly Table[]
  /** Runs through this drive since it was mounted, latest last; at most 50. */
  readonly runs: readonly ReconcileRun[]
}

/** Input, progress messages and answer of each command. Paths are absolute in the project. */
export interface ControlCommands {
  status: {
    input: { path?: string }
    progress: never
    /** `place`: state of the path, if one was given. */
    answer: { mount: MountStatus; unsent: readonly Unsent[]; place?: Place | undefined }
  }
  explain: { input: { path: string }; progress: never; answer: Explanation }
  report: { input: Record<string, never>; progress: never; answer: Report }
  /** Names of a folder, or one document, from what is known here. `watch`: each change is a progress, until the drive ends. */
  folder: { input: { path: string; watch?: boolean }; progress: FolderChange; answer: FolderStatus }
  /** Answered when nothing at or under the path is unsent; after `timeoutMs` with an error whose code is ETIMEDOUT. */
  wait: { input: { path: string; timeoutMs?: number }; progress: never; answer: Record<string, never> }
  /** Calls the service. */
  link: { input: { path: string }; progress: never; answer: Link }
  refresh: { input: { path: string }; progress: never; answer: Record<string, never> }
  resolve: { input: { path: string; keep: Keep }; progress: never; answer: Resolved }
  dismissNames: { input: { path: string }; progress: never; answer: { names: number } }
  /** `files`: names of the damaged files, which were set aside. */
  dismissDamage: { input: Record<string, never>; progress: never; answer: { files: readonly string[] } }
  /** `retried`: number of changes that are sent again. */
  retry: { input: { path: string }; progress: never; answer: { retried: number } }
  pause: { input: Record<string, never>; progress: never; answer: Record<string, never> }
  resume: { input: Record<string, never>; progress: never; answer: Record<string, never> }
  /** `bytesPerSecond`: each way; 0 = no limit. */
  bwlimit: { input: { bytesPerSecond: number }; progress: never; answer: Record<string, never> }
  pin: { input: { path: string }; progress: never; answer: PinAnswer }
  unpin: { input: { path: string }; progress: never; answer: Record<string, never> }
  free: { input: { path: string }; progress: never; answer: FreeAnswer }
  pins: { input: Record<string, never>; progress: never; answer: { pins: readonly PinStatus[] } }
  fetch: { input: { path: string }; progress: FetchProgress; answer: FetchAnswer }
  cache: { input: Record<string, never>; progress: never; answer: CacheStatus }
  /** Its answer is the state before clearing. */
  clearCache: { input: { withPinned: boolean }; progress: never; answer: CacheStatus }
  /** Calls the service. */
  tables: { input: Record<string, never>; progress: never; answer: TablesAnswer }
  /** `isOn`: false if nothing more is kept. */
  former: { input: { path: string }; progress: never; answer: { former: readonly Former[]; isOn: boolean } }
  restore: { input: RestoreRequest; progress: never; answer: RestoreAnswer }
  /** `bytes`: disk space that became free. */
  emptyUndo: { input: Record<string, never>; progress: never; answer: { bytes: number } }
  /** The daemon writes to `destination`, a local path outside the drive: a new file, or a folder for `recoverLost`. */
  recover: { input: { path: string; destination: string }; progress: never; answer: Record<string, never> }
  recoverLost: {
    input: { destination: string }
    progress: never
    answer: { files: readonly string[] }
  }
  unmount: {
    input: { force: boolean; timeoutMs: number; busyMs?: number }
    progress: UnmountProgress
    answer: UnmountAnswer
  }
}

export type ControlCommand = keyof ControlCommands

export interface ControlRequest<C extends ControlCommand = ControlCommand> {
  readonly command: C
  readonly input: ControlCommands[C]['input']
}

export type ControlMessage<C extends ControlCommand = ControlCommand> =
  | { readonly progress: ControlCommands[C]['progress'] }
  | { readonly answer: ControlCommands[C]['answer'] }
  | {
      readonly error: {
        readonly code: string | undefined
        readonly message: string
        readonly isTemporary: boolean
      }
    }

/** Longer than any proper request: paths have at most 4 KiB. */
export const maxRequestBytes: number = 64 * 1024
