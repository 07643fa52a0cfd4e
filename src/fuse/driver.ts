// A driver is a door to the kernel: it turns kernel requests into calls of `Operations` and errors into errnos.
// It decides nothing else. Its options are fields of `MountOptions`, never libfuse's option strings.

import { ExpectedError } from '../expected-error.ts'
import type { Log } from '../log.ts'
import type { Notifier, Operations } from '../fs/operations.ts'
import type { MountLine } from './mountinfo.ts'

export type DriverName = 'kernel' | 'fuse-native'

/** Abilities of a driver. `test/support/doors.ts` reads them. */
export interface DriverCapabilities {
  /** Pushes invalidations, so that long timeouts are safe. */
  readonly push: boolean
  /** Requests tell the uid, gid and pid of the calling program. */
  readonly callerIds: boolean
  readonly exclusiveCreate: boolean
  readonly exactTimes: boolean
  /** RENAME_NOREPLACE and RENAME_EXCHANGE reach the filesystem. */
  readonly renameFlags: boolean
  /** A signal to a waiting program ends its call. */
  readonly interrupt: boolean
  /** A name that is not UTF-8 is refused (EILSEQ), and never confused with another. */
  readonly byteNames: boolean
  readonly attributes: boolean
}

/** Extended attributes (xattr) by which the drive shows states and takes commands. */
export interface ExtendedAttributes {
  attribute(ino: number, name: string): { readonly value: string } | { readonly errno: string }
  /** Sets the attribute; removes it if `value` is undefined. Rejects with an ErrnoError. */
  setAttribute(
    ino: number,
    name: string,
    change: { readonly value: string | undefined; readonly signal: AbortSignal },
  ): Promise<void>
}

export interface MountOptions {
  readonly mountpoint: string
  /** Shown as the device in /proc/mounts, e.g. `docmount:acme`. */
  readonly source: string
  readonly readOnly: boolean
  readonly allowOther: boolean
  /** Absent: the drive has no extended attributes, and the kernel does not ask for any. */
  readonly attributes?: ExtendedAttributes | undefined
  readonly log: Log
}

export type CloseReason = 'unmounted' | 'failed'

export interface Mounted {
  readonly notifier: Notifier
  /** The mount's line in /proc/self/mountinfo; undefined if it is not known, and for fuse-native. */
  readonly line?: MountLine | undefined
  /** Resolves once, when the kernel has ended the connection: our unmount, somebody else's, or a failure. */
  readonly closed: Promise<CloseReason>
  /** Rejects with EBUSY while a program uses the mount; `lazy` detaches at once and serves the remaining users. */
  unmount(options: { lazy: boolean }): Promise<void>
}

export interface Driver {
  readonly name: DriverName
  readonly capabilities: DriverCapabilities
  /** Resolves when the kernel's first request (INIT) was answered. Throws a MountError with a fix. */
  mount(operations: Operations, options: MountOptions): Promise<Mounted>
}

/** A failure to mount or unmount; the message is one line that says what to do. `code` is the errno's name. */
export class MountError extends ExpectedError {
  override readonly name = 'MountError'
  readonly code: string

  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
  }
}
