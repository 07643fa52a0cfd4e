// One live mount, from the kernel's first request to the end: serves, drains, lets go. Made by `startSession`.
// The process that holds a session never touches its mount.

import { setTimeout as sleep } from 'node:timers/promises'
import type { FileSystem } from '../fs/contract.ts'
import type { Notice } from '../fs/notice.ts'
import type { Unsent } from '../fs/status.ts'
import type { CloseReason, Mounted } from '../fuse/driver.ts'
import type { Log } from '../log.ts'
import type { MountStatus, SessionState, UnmountAnswer, UnmountProgress } from './control-protocol.ts'
import { DaemonError } from './daemon-error.ts'
import { endedOrAborted, leaveMount, takenBack } from './leave-mount.ts'
import { leftBytesOf } from './left-bytes.ts'
import type { MountRecord } from './mount-record.ts'

export interface SessionParts {
  readonly record: MountRecord
  readonly fileSystem: FileSystem
  readonly mounted: Mounted
  readonly log: Log
  /** Tells the person what they did not ask for. */
  readonly tell?: ((notice: Notice) => void) | undefined
  /** Takes away what let others find the session; called once, before `finished` resolves. */
  readonly withdraw: () => Promise<void>
}

export interface SessionEnd {
  readonly reason: CloseReason
  /** False when somebody else unmounted it. */
  readonly isAsked: boolean
  /** Stays journaled in the state folder. */
  readonly unsent: readonly Unsent[]
}

export interface StopOptions {
  /** For sending and for a busy mount together. */
  readonly timeoutMs: number
  /** How long the programs that use the mount may take to leave it. Default: `timeoutMs`. */
  readonly busyMs?: number
  /** Detaches a busy mount instead of waiting for its users. */
  readonly force: boolean
  /** Lets go although the disk here refused to keep something, as `force` does: whoever asks cannot wait. */
  readonly mayLose?: boolean
  readonly onProgress?: (progress: UnmountProgress) => void
  /** Takes the wish back; the drive stays when nobody else wants it stopped. */
  readonly signal?: AbortSignal
}

/** How long an unmount by somebody else leaves us for sending. */
const afterUnmountMs = 10 * 60_000
/** A mount that is not gone by then is used by somebody. */
const letGoMs = 2_000
/** Timers end at 2^31 - 1 ms. */
const longestMs = 2 ** 31 - 1

/** A stop under way; taken back when `wishes`, those who asked for it, fall to none. */
interface Stopping {
  readonly promise: Promise<UnmountAnswer>
  readonly cancel: AbortController
  wishes: number
}

export class MountSession {
  readonly record: MountRecord
  readonly fileSystem: FileSystem
  /** Resolves once, when everything is let go. Never rejects. */
  readonly finished: Promise<SessionEnd>
  readonly #mounted: Mounted
  readonly #log: Log
  readonly #tellPerson: (notice: Notice) => void
  /** Aborted when nobody waits for sending any more: what is unsent stays journaled. */
  readonly #hurry = new AbortController()
  readonly #listeners = new Set<(progress: UnmountProgress) => void>()
  #state: SessionState = 'live'
  #isForced = false
  #mayLose = false
  #hasToldSending = false
  #isKernelGone = false
  #stopping: Stopping | undefined
  #deadlineMs = Infinity
  #busyMs = Infinity

  constructor(parts: SessionParts) {
    this.record = parts.record
    this.fileSystem = parts.fileSystem
    this.#mounted = parts.mounted
    this.#log = parts.log
    this.#tellPerson = parts.tell ?? (() => {})
    this.finished = this.#serve(parts)
  }

  get state(): SessionState {
    return this.#state
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
      ...this.fileSystem.status(),
    }
  }

  /**
   * Drains, unmounts, and answers what stayed unsent. Wishes to stop that come while one is under way join it. Throws a
   * DaemonError when the mount stays busy beyond the timeout, when something would be lost with it that the disk here refused
   * to keep, or when the wish was taken back: the drive then lives on.
   */
  async stop(options: StopOptions): Promise<UnmountAnswer> {
    this.#deadlineMs = performance.now() + Math.min(options.timeoutMs, longestMs)
    this.#busyMs = options.busyMs ?? Infinity
    this.#isForced ||= options.force
    this.#mayLose ||= options.mayLose === true
    if (this.#isKernelGone && this.#stopping === undefined) return this.#finishWithin(options)
    if (options.onProgress !== undefined) this.#listeners.add(options.onProgress)
    const stopping = (this.#stopping ??= this.#beginStopping())
    stopping.wishes += 1
    const takeBack = (): void => {
      stopping.wishes -= 1
      if (stopping.wishes === 0) stopping.cancel.abort()
    }
    options.signal?.addEventListener('abort', takeBack, { once: true })
    try {
      return await stopping.promise
    } finally {
      options.signal?.removeEventListener('abort', takeBack)
      if (options.onProgress !== undefined) this.#listeners.delete(options.onProgress)
    }
  }

  /** Ends sending at once and detaches a busy mount; what is unsent stays journaled. */
  hurry(): void {
    this.#isForced = true
    this.#hurry.abort()
  }

  /** Somebody else unmounted; what is left is sending. */
  async #finishWithin({ timeoutMs }: StopOptions): Promise<UnmountAnswer> {
    await endedOrAborted(this.finished, [AbortSignal.timeout(Math.min(timeoutMs, longestMs))])
    this.#hurry.abort()
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
    return { promise, cancel, wishes: 0 }
  }

  async #stop(cancel: AbortSignal): Promise<UnmountAnswer> {
    this.#enter('draining')
    // Listeners at the control socket see the progress themselves.
    if (this.#listeners.size === 0) this.#tellSending()
    await this.#drain([cancel])
    if (!this.#isForced && !this.#mayLose) this.#checkKept()
    this.#enter('unmounting')
    const busyUntilMs = performance.now() + this.#busyMs
    const isDetached = await leaveMount(this.#mounted, this.record.mountpoint, {
      isForced: () => this.#isForced,
      untilMs: () => Math.min(busyUntilMs, this.#deadlineMs),
      onBusy: (users) => this.#tell({ busy: users }),
      cancel,
      hurry: this.#hurry.signal,
    })
    // Where somebody else has detached it (umount -l) there was nothing to unmount, and its users have it still.
    if (isDetached || !(await this.#isLetGo())) {
      this.#enter('detached')
      const isOver = await isOverWithin(500, this.finished)
      if (!isOver) return { unsent: this.fileSystem.unsent('/'), isDetached: true }
    }
    const { unsent } = await this.finished
    return { unsent, isDetached: false }
  }

  /** The kernel lets go of a mount that nobody uses at once. */
  #isLetGo(): Promise<boolean> {
    return isOverWithin(letGoMs, this.#mounted.closed)
  }

  /** Documents that the disk here refused are lost with the drive: its person decides. */
  #checkKept(): void {
    const unkept = this.fileSystem.unsent('/').filter(({ state }) => state === 'unkept')
    const [first] = unkept
    if (first === undefined) return
    const what = unkept.length === 1 ? 'it' : `it and ${unkept.length - 1} more`
    throw new DaemonError(
      `${first.path} is not safe: the disk of this machine refuses ${what} (${first.lastError}). ` +
        `Make room for ${this.record.stateDir}, or copy it out (docmount recover), or add --force, which gives it up`,
    )
  }

  async #serve({ fileSystem, mounted, withdraw, log }: SessionParts): Promise<SessionEnd> {
    const reason = await mounted.closed
    this.#isKernelGone = true
    const isAsked = this.#stopping !== undefined
    if (!isAsked) {
      log.warn({ reason }, 'the mount ended from outside; sending what is unsent')
      this.#deadlineMs = performance.now() + afterUnmountMs
      this.#enter('draining')
    }
    if (!isAsked) this.#tellSending()
    await this.#drain([]).catch((error: unknown) => log.error({ error }, 'draining failed'))
    const unsent = fileSystem.unsent('/')
    // Of what the disk refused the person has heard.
    const left = unsent.filter(({ state }) => state !== 'unkept')
    if (left.length > 0) this.#tellPerson({ kind: 'left', changes: left.length, bytes: leftBytesOf(left) })
    else if (this.#hasToldSending && unsent.length === 0) this.#tellPerson({ kind: 'done' })
    await fileSystem.close().catch((error: unknown) => log.error({ error }, 'the state could not be closed'))
    await withdraw().catch((error: unknown) => log.warn({ error }, 'the mount record could not be removed'))
    log.info({ reason, unsent: unsent.length }, 'ended')
    return { reason, isAsked, unsent }
  }

  /** Returns when everything is sent, time is out, or nobody waits any more. */
  async #drain(stops: readonly AbortSignal[]): Promise<void> {
    const timeoutMs = Math.max(0, Math.min(this.#deadlineMs - performance.now(), longestMs))
    if (timeoutMs === 0 || this.#hurry.signal.aborted) return
    const onProgress = (): void => this.#tell({})
    const drained = this.fileSystem.drain({ timeoutMs, onProgress })
    await endedOrAborted(drained, [this.#hurry.signal, ...stops])
    if (stops.some((signal) => signal.aborted)) throw takenBack()
    if (this.#hurry.signal.aborted) this.#log.warn({}, 'stopped sending; what is unsent stays journaled')
  }

  #enter(state: SessionState): void {
    if (this.#state === state) return
    this.#state = state
    this.#log.info({ state }, 'stopping')
    this.#tell({})
  }

  #tellSending(): void {
    const unsent = this.fileSystem.unsent('/')
    if (unsent.length === 0) return
    this.#hasToldSending = true
    this.#tellPerson({ kind: 'sending', changes: unsent.length, bytes: leftBytesOf(unsent) })
  }

  #tell({ busy }: { busy?: string }): void {
    const unsent = this.fileSystem.unsent('/')
    const progress = { state: this.#state, unsent: unsent.length, leftBytes: leftBytesOf(unsent) }
    for (const listener of this.#listeners) listener(busy === undefined ? progress : { ...progress, busy })
  }
}

/** No timer outlives it: the process would. */
async function isOverWithin(ms: number, over: Promise<unknown>): Promise<boolean> {
  const enough = new AbortController()
  const late = sleep(ms, false, { signal: enough.signal })
  return Promise.race([over.then(() => true), late]).finally(() => enough.abort())
}
