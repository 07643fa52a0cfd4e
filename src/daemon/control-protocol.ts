// Protocol of a mount's control socket: one JSON line asks; lines of progress and one line of answer follow; then the
// daemon hangs up. Hanging up first takes the question back.

import type { CacheStatus, FetchAnswer, FetchProgress, PinAnswer, PinStatus } from '../fs/pins/pin-status.ts'
import type { Table } from '../api/table-types.ts'
import type { ReconcileRun } from '../tables-drive/reconcile-run.ts'
import type { FileSystemStatus, Link, Place, Unsent } from '../fs/status.ts'
import type { DoorName, WebdavAddress } from './session-door.ts'

/**
 * - `live`: the drive works.
 * - `draining`: sending what is unsent, on the way to the end.
 * - `unmounting`: asking the kernel to let go; busy while somebody uses the mount.
 * - `detached`: gone from the folder tree; programs that still hold files are served to their end.
 */
export type SessionState = 'live' | 'draining' | 'unmounting' | 'detached'

/** One mount, as `docmount status --json` shows it. */
export interface MountStatus extends FileSystemStatus {
  /** Without a mount: the address of the WebDAV door. */
  readonly mountpoint: string
  readonly baseUrl: string
  readonly state: SessionState
  readonly pid: number
  readonly driver: DoorName
  /** How the drive is reached without the kernel. */
  readonly webdav?: WebdavAddress | undefined
  readonly startedAt: string
  readonly logFile: string | undefined
}

export interface UnmountProgress {
  readonly state: SessionState
  readonly unsent: number
  /** Bytes already sent are not counted. */
  readonly leftBytes: number
  /** Users of the busy mount, in words; absent while there are none. */
  readonly busy?: string
}

export interface UnmountAnswer {
  /** Stays journaled; sent after the next mount. */
  readonly unsent: readonly Unsent[]
  /** True when the mount was detached under programs that still use it. */
  readonly isDetached: boolean
}

export interface TablesAnswer {
  readonly tables: readonly Table[]
  /** Those that went through the drive since it was mounted, the latest last; at most 50. */
  readonly runs: readonly ReconcileRun[]
}

/** Every command with what it takes, says on the way, and answers. Paths are absolute in the project. */
export interface ControlCommands {
  status: {
    input: { path?: string }
    progress: never
    /** `place` of the path, where one was given. */
    answer: { mount: MountStatus; unsent: readonly Unsent[]; place?: Place | undefined }
  }
  wait: { input: { path: string; timeoutMs?: number }; progress: never; answer: Record<string, never> }
  /** Asks the service. */
  link: { input: { path: string }; progress: never; answer: Link }
  refresh: { input: { path: string }; progress: never; answer: Record<string, never> }
  retry: { input: { path: string }; progress: never; answer: { retried: number } }
  pin: { input: { path: string }; progress: never; answer: PinAnswer }
  unpin: { input: { path: string }; progress: never; answer: Record<string, never> }
  pins: { input: Record<string, never>; progress: never; answer: { pins: readonly PinStatus[] } }
  fetch: { input: { path: string }; progress: FetchProgress; answer: FetchAnswer }
  cache: { input: Record<string, never>; progress: never; answer: CacheStatus }
  /** Answers what was there. */
  clearCache: { input: { withPinned: boolean }; progress: never; answer: CacheStatus }
  /** Asks the service. */
  tables: { input: Record<string, never>; progress: never; answer: TablesAnswer }
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

/** No honest request is longer: paths end at 4 KiB. */
export const maxRequestBytes: number = 64 * 1024
