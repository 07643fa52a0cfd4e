// Open documents that are empty so far. Windows and Finder first create an empty document (empty PUT, or LOCK of a free name),
// and send its content a moment later: if it stays open until then, both are one save to the service. The name is journaled at
// once. Without content it is closed after `contentWaitMs`, as an empty document; one that a LOCK created, when the lock ends:
// davfs2 sends the content ten seconds later or more.

import type { Log } from '../log.ts'
import type { Caller, Operations } from '../fs/operations.ts'
import type { Timer, Timers } from '../world/clock.ts'
import type { Opened } from './path-walk.ts'

const contentWaitMs = 10_000
const maximumCount = 256

const nobody: Caller = { uid: 0, gid: 0, pid: 0, signal: new AbortController().signal }

/** An open, empty document, and the timer that checks after `contentWaitMs` if its content is still awaited. */
interface PendingPut {
  readonly opened: Opened
  timer: Timer
}

export class PendingPuts {
  readonly #operations: Operations
  readonly #log: Log
  readonly #timers: Timers
  /** Open documents by path, oldest first. */
  readonly #open = new Map<string, PendingPut>()
  readonly #closing = new Set<Promise<void>>()

  constructor(operations: Operations, log: Log, timers: Timers) {
    this.#operations = operations
    this.#log = log
    this.#timers = timers
  }

  /** Takes over the handle of an empty document. It stays open at least as long as `isAwaited` returns true. */
  keep(path: string, opened: Opened, isAwaited: () => boolean = () => false): void {
    this.end(path)
    const wait = (): Timer => this.#timers.setTimeout(onWaited, contentWaitMs)
    const onWaited = (): void => {
      if (isAwaited()) pending.timer = wait()
      else this.end(path)
    }
    const pending: PendingPut = { opened, timer: wait() }
    this.#open.set(path, pending)
    const [oldest] = this.#open.keys()
    if (this.#open.size > maximumCount && oldest !== undefined) this.end(oldest)
  }

  /** Removes and returns the handle at a path; undefined if there is none. */
  take(path: string): Opened | undefined {
    const pending = this.#open.get(path)
    if (pending === undefined) return undefined
    this.#timers.clear(pending.timer)
    this.#open.delete(path)
    return pending.opened
  }

  /** Starts to close the document at a path, as an empty one. */
  end(path: string): void {
    const opened = this.take(path)
    if (opened === undefined) return
    const closing = this.#close(path, opened.fh).finally(() => this.#closing.delete(closing))
    this.#closing.add(closing)
  }

  /** Closes all documents whose path matches; resolves when they, and those that were being closed, are closed. */
  async closeMatching(matches: (path: string) => boolean): Promise<void> {
    for (const path of this.#open.keys()) if (matches(path)) this.end(path)
    await Promise.all(this.#closing)
  }

  async #close(path: string, fh: number): Promise<void> {
    try {
      await this.#operations.flush(fh, nobody)
    } catch (error) {
      this.#log.warn({ error, path }, 'an empty document could not be saved')
    }
    await Promise.resolve(this.#operations.release(fh)).catch((error: unknown) => {
      this.#log.warn({ error, path }, 'an empty document could not be closed')
    })
  }
}
