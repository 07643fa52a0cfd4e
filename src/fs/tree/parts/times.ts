// A node's mode and times as they were set here, or came about here. An undefined one is as the service has it.

import type { Time } from '../../operations.ts'

export interface Times {
  readonly mode: number | undefined
  readonly atime: Time | undefined
  readonly mtime: Time | undefined
  readonly ctime: Time | undefined
}

const asStored: Times = { mode: undefined, atime: undefined, mtime: undefined, ctime: undefined }

export class TimesPart {
  #now: Times = asStored

  get mode(): number | undefined {
    return this.#now.mode
  }

  get atime(): Time | undefined {
    return this.#now.atime
  }

  get mtime(): Time | undefined {
    return this.#now.mtime
  }

  get ctime(): Time | undefined {
    return this.#now.ctime
  }

  /** It was made here. */
  made(mode: number, now: Time): void {
    this.#now = { mode: mode & 0o7777, atime: now, mtime: now, ctime: now }
  }

  /** A program set some of them. */
  set(change: Partial<Pick<Times, 'mode' | 'atime' | 'mtime'>>, now: Time): void {
    const { mode = this.mode, atime = this.atime, mtime = this.mtime } = change
    this.#now = { mode: mode === undefined ? undefined : mode & 0o7777, atime, mtime, ctime: now }
  }

  /** The content, or a folder's names, changed now; it was read when it was shown to be. */
  changed(now: Time, atime: Time | undefined = this.atime): void {
    this.#now = { ...this.#now, atime, mtime: now, ctime: now }
  }

  /** It has another name since now. */
  renamed(now: Time): void {
    this.#now = { ...this.#now, ctime: now }
  }

  /** It shows another version of the service, for which this was set; nothing was where that is undefined. */
  follow(set?: Partial<Times>): void {
    this.#now = set === undefined ? asStored : { ...asStored, ...set }
  }

  /** They stay what they are shown to be, whatever the service makes of it. */
  pin({ mode, atime, mtime, ctime }: Times): void {
    this.#now = { mode, atime, mtime, ctime }
  }

  /** As they are now, to be put back. */
  remembered(): () => void {
    const now = this.#now
    return () => void (this.#now = now)
  }
}
