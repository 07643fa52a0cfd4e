// A driver is a door to the kernel: it turns kernel requests into calls of `Operations` and errors into errnos.
// It decides nothing else. Its options are fields of `MountOptions`, never libfuse's option strings.

import { ToldError } from '../told-error.ts'
import type { Log } from '../log.ts'
import type { Notifier, Operations } from '../fs/operations.ts'
import type { MountLine } from './mountinfo.ts'

export type DriverName = 'kernel' | 'fuse-native'

/** Abilities of a driver. `test/support/doors.ts` reads them. */
export interface DriverCapabilities {
  /** Pushes invalidations, so that long timeouts are safe. */
  readonly push: boolean
  readonly callerIds: boolean
  readonly exclusiveCreate: boolean
  readonly exactTimes: boolean
  readonly renameFlags: boolean
  readonly interrupt: boolean
  /** A name that is not UTF-8 is refused (EILSEQ), and never confused with another. */
  readonly byteNames: boolean
  readonly attributes: boolean
}

/** Attributes that the drive itself has (xattr). */
export interface ExtendedAttributes {
  attribute(ino: number, name: string): { readonly value: string } | { readonly errno: string }
  /** `value` undefined removes it. Rejects with the errno. */
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
  /** Absent: there are none, and the kernel asks for none. */
  readonly attributes?: ExtendedAttributes | undefined
  readonly log: Log
}

export type CloseReason = 'unmounted' | 'failed'

export interface Mounted {
  readonly notifier: Notifier
  /** Its line in the kernel's list of mounts; undefined for a mount of a driver without caller ids, and where it is not known. */
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
export class MountError extends ToldError {
  override readonly name = 'MountError'
  readonly code: string

  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
  }
}
