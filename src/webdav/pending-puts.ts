// Documents that were begun and not filled yet. Windows and Finder make a document empty (PUT of nothing, or LOCK of a name
// that is free), and send its content a moment later: kept open until then, both are one save to the service. The name is
// journaled at once; left alone, the document is closed after `leftAloneMs`, and is an empty document. One that a LOCK made waits
// as long as its lock holds: davfs2 sends the content ten seconds later or more.

import type { Log } from '../log.ts'
import type { Caller, Operations } from '../fs/operations.ts'
import type { Timer, Timers } from '../world/clock.ts'
import type { Opened } from './path-walk.ts'

const leftAloneMs = 10_000
const maximumCount = 256

const nobody: Caller = { uid: 0, gid: 0, pid: 0, signal: new AbortController().signal }

interface Beginning {
  readonly opened: Opened
  timer: Timer
}

export class PendingPuts {
  readonly #operations: Operations
  readonly #log: Log
  readonly #timers: Timers
  /** By path, oldest first. */
  readonly #open = new Map<string, Beginning>()
  readonly #closing = new Set<Promise<void>>()

  constructor(operations: Operations, log: Log, timers: Timers) {
    this.#operations = operations
    this.#log = log
    this.#timers = timers
  }

  /** Takes over a handle whose document is empty. `isAwaited`: longer than others, its content may come as long as this is true. */
  keep(path: string, opened: Opened, isAwaited: () => boolean = () => false): void {
    this.end(path)
    const wait = (): Timer => this.#timers.setTimeout(leftAlone, leftAloneMs)
    const leftAlone = (): void => {
      if (isAwaited()) beginning.timer = wait()
      else this.end(path)
    }
    const beginning: Beginning = { opened, timer: wait() }
    this.#open.set(path, beginning)
    const [oldest] = this.#open.keys()
    if (this.#open.size > maximumCount && oldest !== undefined) this.end(oldest)
  }

  /** Hands the handle over to whoever fills the document; undefined where none is kept. */
  take(path: string): Opened | undefined {
    const beginning = this.#open.get(path)
    if (beginning === undefined) return undefined
    this.#timers.clear(beginning.timer)
    this.#open.delete(path)
    return beginning.opened
  }

  /** Closes it: as it is, it is the document. */
  end(path: string): void {
    const opened = this.take(path)
    if (opened === undefined) return
    const closing = this.#close(path, opened.fh).finally(() => this.#closing.delete(closing))
    this.#closing.add(closing)
  }

  /** Those under a path; resolves when they are closed. */
  async endBelow(isBelow: (path: string) => boolean): Promise<void> {
    for (const path of this.#open.keys()) if (isBelow(path)) this.end(path)
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
