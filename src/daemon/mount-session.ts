// One live mount, from the kernel's first request to its end: it serves, drains, unmounts. Created by `startSession`. The
// process of a session never touches its mount.

import { setTimeout as sleep } from 'node:timers/promises'
import type { FileSystem } from '../fs/contract.ts'
import type { Notice } from '../fs/notice.ts'
import type { Notifier } from '../fs/operations.ts'
import type { Unsent } from '../fs/status.ts'
import type { CloseReason, Mounted } from '../fuse/driver.ts'
import type { Log } from '../log.ts'
import type { MountStatus, SessionState, UnmountAnswer, UnmountProgress } from './control-protocol.ts'
import { DaemonError } from './daemon-error.ts'
import { endedOrAborted, leaveMount, cancelError } from './leave-mount.ts'
import { leftBytesOf } from './left-bytes.ts'
import type { MountRecord } from './mount-record.ts'

export interface SessionParts {
  readonly record: MountRecord
  readonly fileSystem: FileSystem
  readonly mounted: Mounted
  readonly log: Log
  /** Shows a notice on the desktop. */
  readonly tell?: ((notice: Notice) => void) | undefined
  /** Limits the bytes per second, each way; 0 = none. */
  readonly limit?: ((bytesPerSecond: number) => void) | undefined
  /** The limit at the start of the mount. */
  readonly bytesPerSecond?: number | undefined
  /** Removes record and socket, by which commands find the session; called once, before `finished` resolves. */
  readonly withdraw: () => Promise<void>
}

export interface SessionEnd {
  readonly reason: CloseReason
  /** True if `stop` ended it; false if the mount was ended from outside, for example by umount(8). */
  readonly isAsked: boolean
  /** Changes that stay in the journal. */
  readonly unsent: readonly Unsent[]
}

export interface StopOptions {
  /** Limit for sending and for a busy mount together. */
  readonly timeoutMs: number
  /** Limit for a busy mount alone. Default: `timeoutMs`. */
  readonly busyMs?: number
  /** Detaches a busy mount instead of waiting for its users. */
  readonly force: boolean
  /** Unmounts even if documents are lost that the disk here refused, as `force` does: for a shutdown, which cannot wait. */
  readonly mayLose?: boolean
  readonly onProgress?: (progress: UnmountProgress) => void
  /** Withdraws this request; the drive stays if no other request is pending. */
  readonly signal?: AbortSignal
}

/** Limit for sending after an unmount from outside. */
const afterUnmountMs = 10 * 60_000
/** A mount that is not gone within this time is still in use. */
const unmountedWithinMs = 2_000
/** Longest delay of a Node timer. */
const longestMs = 2 ** 31 - 1

/** A stop under way. `requests`: number of `stop` calls that wait for it; at 0 it is cancelled. */
interface Stopping {
  readonly promise: Promise<UnmountAnswer>
  readonly cancel: AbortController
  requests: number
}

export class MountSession {
  readonly record: MountRecord
  readonly fileSystem: FileSystem
  /** Resolves once, when everything is closed. Never rejects. */
  readonly finished: Promise<SessionEnd>
  readonly #mounted: Mounted
  readonly #limit: (bytesPerSecond: number) => void
  #bytesPerSecond: number
  readonly #log: Log
  readonly #notifyUser: (notice: Notice) => void
  /** Aborted to end sending at once: unsent changes stay in the journal. */
  readonly #stopSendingNow = new AbortController()
  readonly #listeners = new Set<(progress: UnmountProgress) => void>()
  #state: SessionState = 'live'
  #isForced = false
  #mayLose = false
  #hasNotifiedSending = false
  /** True once the mount has ended, by `stop` or from outside. */
  #isKernelGone = false
  #stopping: Stopping | undefined
  /** End of sending and of waiting for users, by `performance.now()`; set by the latest `stop`, or by `#serve` without one. */
  #deadlineMs = Infinity
  #busyMs = Infinity

  constructor(parts: SessionParts) {
    this.record = parts.record
    this.fileSystem = parts.fileSystem
    this.#mounted = parts.mounted
    this.#limit = parts.limit ?? (() => {})
    this.#bytesPerSecond = parts.bytesPerSecond ?? 0
    this.#log = parts.log
    this.#notifyUser = parts.tell ?? (() => {})
    this.finished = this.#serve(parts)
  }

  /** Tells the kernel's door of changes that did not come through it. */
  get notifier(): Notifier {
    return this.#mounted.notifier
  }

  get state(): SessionState {
    return this.#state
  }

  /** Changes the limit of bytes per second, each way, until the next mount. 0 = none. */
  limit(bytesPerSecond: number): void {
    this.#limit(bytesPerSecond)
    this.#bytesPerSecond = bytesPerSecond
  }

  status(): MountStatus {
    const { mountpoint, baseUrl, pid, driver, webdav, startedAt, logFile } = this.record
    const state = this.#state
    return {
      mountpoint,
      baseUrl,
      state,
      pid,
      driver,
      webdav,
      startedAt,
      logFile,
      bytesPerSecond: this.#bytesPerSecond,
      ...this.fileSystem.status(),
    }
  }

  /**
   * Drains, unmounts, and resolves with what stayed unsent. A call while a stop is under way joins it, and sets its limits. Throws
   * a DaemonError if the mount stays busy beyond the timeout, if a document would be lost that the disk here refused, or if all
   * calls were cancelled: then the drive stays.
   */
  async stop(options: StopOptions): Promise<UnmountAnswer> {
    this.#deadlineMs = performance.now() + Math.min(options.timeoutMs, longestMs)
    this.#busyMs = options.busyMs ?? Infinity
    this.#isForced ||= options.force
    this.#mayLose ||= options.mayLose === true
    if (this.#isKernelGone && this.#stopping === undefined) return this.#finishWithin(options)
    if (options.onProgress !== undefined) this.#listeners.add(options.onProgress)
    const stopping = (this.#stopping ??= this.#beginStopping())
    stopping.requests += 1
    const withdrawRequest = (): void => {
      stopping.requests -= 1
      if (stopping.requests === 0) stopping.cancel.abort()
    }
    options.signal?.addEventListener('abort', withdrawRequest, { once: true })
    try {
      return await stopping.promise
    } finally {
      options.signal?.removeEventListener('abort', withdrawRequest)
      if (options.onProgress !== undefined) this.#listeners.delete(options.onProgress)
    }
  }

  /** Ends sending at once and detaches a busy mount; what is unsent stays journaled. */
  stopSending(): void {
    this.#isForced = true
    this.#stopSendingNow.abort()
  }

  /** Handles a `stop` after an unmount from outside: `#serve` is sending already, and gets at most `timeoutMs` from now. */
  async #finishWithin({ timeoutMs }: StopOptions): Promise<UnmountAnswer> {
    await endedOrAborted(this.finished, [AbortSignal.timeout(Math.min(timeoutMs, longestMs))])
    this.#stopSendingNow.abort()
    const { unsent } = await this.finished
    return { unsent, isDetached: false }
  }

  #beginStopping(): Stopping {
    const cancel = new AbortController()
    const promise = this.#stop(cancel.signal).catch((error: unknown) => {
      this.#stopping = undefined
      if (this.#state !== 'detached') this.#state = 'live'
      throw error
    })
    return { promise, cancel, requests: 0 }
  }

  /** Sends and unmounts; `#serve` then closes everything. `cancel` is aborted when no `stop` waits any more. */
  async #stop(cancel: AbortSignal): Promise<UnmountAnswer> {
    this.#enter('draining')
    // Clients of the control socket get progress messages instead.
    if (this.#listeners.size === 0) this.#notifySending()
    await this.#drain([cancel])
    if (!this.#isForced && !this.#mayLose) this.#checkKept()
    this.#enter('unmounting')
    const busyUntilMs = performance.now() + this.#busyMs
    const isDetached = await leaveMount(this.#mounted, this.record.mountpoint, {
      isForced: () => this.#isForced,
      untilMs: () => Math.min(busyUntilMs, this.#deadlineMs),
      onBusy: (users) => this.#reportProgress({ busy: users }),
      cancel,
      stopWaiting: this.#stopSendingNow.signal,
    })
    // After `umount -l` from outside there was nothing left to unmount, but programs may still use it.
    if (isDetached || !(await this.#isUnmounted())) {
      this.#enter('detached')
      const isOver = await isOverWithin(500, this.finished)
      if (!isOver) return { unsent: this.fileSystem.unsent('/'), isDetached: true }
    }
    const { unsent } = await this.finished
    return { unsent, isDetached: false }
  }

  /** Resolves with false if programs still use the mount: the kernel ends the connection of an unused one at once. */
  #isUnmounted(): Promise<boolean> {
    return isOverWithin(unmountedWithinMs, this.#mounted.closed)
  }

  /** Throws a DaemonError if the disk here refused documents, which would be lost with the drive: the user decides. */
  #checkKept(): void {
    const unkept = this.fileSystem.unsent('/').filter(({ state }) => state === 'unkept')
    const [first] = unkept
    if (first === undefined) return
    const which = unkept.length === 1 ? 'it' : `it and ${unkept.length - 1} more`
    throw new DaemonError(
      `${first.path} is not safe: the disk of this machine refuses ${which} (${first.lastError}). ` +
        `Make room for ${this.record.stateDir}, or copy it out (docmount recover), or add --force, which gives it up`,
    )
  }

  /** Waits for the end of the mount, whoever ended it, sends what is left, and closes everything. */
  async #serve({ fileSystem, mounted, withdraw, log }: SessionParts): Promise<SessionEnd> {
    const reason = await mounted.closed
    this.#isKernelGone = true
    const isAsked = this.#stopping !== undefined
    if (!isAsked) {
      log.warn({ reason }, 'the mount ended from outside; sending what is unsent')
      this.#deadlineMs = performance.now() + afterUnmountMs
      this.#enter('draining')
    }
    if (!isAsked) this.#notifySending()
    await this.#drain([]).catch((error: unknown) => log.error({ error }, 'draining failed'))
    const unsent = fileSystem.unsent('/')
    // The user was notified of those that the disk refused.
    const left = unsent.filter(({ state }) => state !== 'unkept')
    if (left.length > 0) this.#notifyUser({ kind: 'left', changes: left.length, bytes: leftBytesOf(left) })
    else if (this.#hasNotifiedSending && unsent.length === 0) this.#notifyUser({ kind: 'done' })
    await fileSystem.close().catch((error: unknown) => log.error({ error }, 'the state could not be closed'))
    await withdraw().catch((error: unknown) => log.warn({ error }, 'the mount record could not be removed'))
    log.info({ reason, unsent: unsent.length }, 'ended')
    return { reason, isAsked, unsent }
  }

  /** Resolves when everything is sent, at the deadline, or after `stopSending`. Throws if a signal cancels it. */
  async #drain(stops: readonly AbortSignal[]): Promise<void> {
    const timeoutMs = Math.max(0, Math.min(this.#deadlineMs - performance.now(), longestMs))
    if (timeoutMs === 0 || this.#stopSendingNow.signal.aborted) return
    const onProgress = (): void => this.#reportProgress({})
    const drained = this.fileSystem.drain({ timeoutMs, onProgress })
    await endedOrAborted(drained, [this.#stopSendingNow.signal, ...stops])
    if (stops.some((signal) => signal.aborted)) throw cancelError()
    if (this.#stopSendingNow.signal.aborted)
      this.#log.warn({}, 'stopped sending; what is unsent stays journaled')
  }

  #enter(state: SessionState): void {
    if (this.#state === state) return
    this.#state = state
    this.#log.info({ state }, 'stopping')
    this.#reportProgress({})
  }

  #notifySending(): void {
    const unsent = this.fileSystem.unsent('/')
    if (unsent.length === 0) return
    this.#hasNotifiedSending = true
    this.#notifyUser({ kind: 'sending', changes: unsent.length, bytes: leftBytesOf(unsent) })
  }

  #reportProgress({ busy }: { busy?: string }): void {
    const unsent = this.fileSystem.unsent('/')
    const progress = { state: this.#state, unsent: unsent.length, leftBytes: leftBytesOf(unsent) }
    for (const listener of this.#listeners) listener(busy === undefined ? progress : { ...progress, busy })
  }
}

/** Resolves with true if `over` resolves within `ms`. Clears its timer, which would keep the process alive. */
async function isOverWithin(ms: number, over: Promise<unknown>): Promise<boolean> {
  const enough = new AbortController()
  const late = sleep(ms, false, { signal: enough.signal })
  return Promise.race([over.then(() => true), late]).finally(() => enough.abort())
}
