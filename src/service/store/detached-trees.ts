// Clears the nodes below deleted folders in the background, batch by batch.

import type { Log } from '../../log.ts'
import type { Contents } from '../blobs/contents.ts'
import type { Commits } from './opened-store.ts'

export class DetachedTrees {
  readonly #commits: Commits
  readonly #blobs: Contents
  readonly #log: Log
  #running: Promise<void> | undefined
  /** A folder was detached since the last round began. */
  #isAsked = false
  #isStopped = false

  constructor(commits: Commits, blobs: Contents, log: Log) {
    this.#commits = commits
    this.#blobs = blobs
    this.#log = log
  }

  /** Starts clearing, unless it is under way. Whatever `stop` leaves is cleared after the next start. */
  startClearing(): void {
    this.#isAsked = true
    this.#running ??= this.#clearAll()
      .catch((error: unknown) => {
        this.#log.error({ error }, 'could not clear what was deleted; the next deletion or start tries again')
      })
      .finally(() => (this.#running = undefined))
  }

  /** Resolves when all nodes deleted so far are cleared. */
  async whenIdle(): Promise<void> {
    while (this.#running !== undefined) await this.#running
  }

  /** Resolves after the batch under way; no other begins. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.whenIdle()
  }

  async #clearAll(): Promise<void> {
    while (this.#isAsked && !this.#isStopped) {
      this.#isAsked = false
      for (;;) {
        const blobs = this.#isStopped ? undefined : await this.#commits.run('clearDetached', {})
        if (blobs === undefined) break
        this.#blobs.collect(blobs)
        await this.#blobs.whenIdle()
      }
    }
  }
}
