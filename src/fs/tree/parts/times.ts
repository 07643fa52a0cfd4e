// Mode and times of a node that were set on this machine. Undefined: the service's value is shown.

import { Undoable } from '../../../content/spool/undo.ts'
import type { Time } from '../../operations.ts'

export interface Times {
  readonly mode: number | undefined
  readonly atime: Time | undefined
  readonly mtime: Time | undefined
  readonly ctime: Time | undefined
}

const asStored: Times = { mode: undefined, atime: undefined, mtime: undefined, ctime: undefined }

export class TimesPart extends Undoable<Times> {
  constructor() {
    super(asStored)
  }

  get mode(): number | undefined {
    return this.now.mode
  }

  get atime(): Time | undefined {
    return this.now.atime
  }

  get mtime(): Time | undefined {
    return this.now.mtime
  }

  get ctime(): Time | undefined {
    return this.now.ctime
  }

  /** The node was created on this machine. */
  made(mode: number, now: Time): void {
    this.alter({ mode: mode & 0o7777, atime: now, mtime: now, ctime: now })
  }

  /** A program set some of these values. */
  set(change: Partial<Pick<Times, 'mode' | 'atime' | 'mtime'>>, now: Time): void {
    const { mode = this.mode, atime = this.atime, mtime = this.mtime } = change
    this.alter({ mode: mode === undefined ? undefined : mode & 0o7777, atime, mtime, ctime: now })
  }

  /** The content, or the names of a folder, changed at `now`. `atime`: the one that programs saw before. */
  changed(now: Time, atime: Time | undefined = this.atime): void {
    this.alter({ atime, mtime: now, ctime: now })
  }

  /** The node was renamed at `now`. */
  renamed(now: Time): void {
    this.alter({ ctime: now })
  }

  /** Another version is shown, with the values that were set for it, or else those of the service. */
  reset(set?: Partial<Times>): void {
    if (set !== undefined || this.now !== asStored) this.alter({ ...asStored, ...set })
  }

  /** Keeps these values for programs after the upload, whatever the service reports. */
  freeze({ mode, atime, mtime, ctime }: Times): void {
    this.alter({ mode, atime, mtime, ctime })
  }
}
