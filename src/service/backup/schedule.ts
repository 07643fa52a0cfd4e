// Scheduled backups of a service, one at a time, in a separate process. The time of the latest one is read from the place
// where backups are, so that frequent restarts of the service cause no more backups.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../log.ts'
import { siblingFile } from '../../sibling-file.ts'
import { TaskProcesses } from '../tables/task-processes.ts'
import { longestTimerMs } from '../timers.ts'
import type { BackupAnswer, BackupTask } from './backup-process.ts'

export interface BackupPlan {
  /** A folder, or `s3://BUCKET/PREFIX?endpoint=URL`. */
  readonly to: string
  readonly everyMs: number
  /** How many are kept; older ones are removed when a new one is complete. */
  readonly keep: number
}

/** Pause after a failed backup, in milliseconds; `everyMs` where that is less. */
const retryMs = 5 * 60_000
const heapBytes = 2 * 1024 ** 3

export class BackupSchedule {
  readonly #plan: BackupPlan
  readonly #dataDir: string
  readonly #log: Log
  readonly #processes: TaskProcesses<BackupTask, BackupAnswer>
  readonly #stopping = new AbortController()
  #latestAt: number | undefined
  #failures = 0

  constructor(plan: BackupPlan, dataDir: string, log: Log) {
    this.#plan = plan
    this.#dataDir = dataDir
    this.#log = log
    this.#processes = new TaskProcesses(siblingFile(import.meta.url, 'backup-process'), {
      heapBytes,
      idleMs: 0,
      // The credentials of a bucket are in the environment.
      hasKeys: true,
    })
  }

  /** The place of the backups, without the query of a URL. */
  get to(): string {
    return withoutQuery(this.#plan.to)
  }

  get everyMs(): number {
    return this.#plan.everyMs
  }

  /** Time of the latest complete backup, in epoch milliseconds; undefined where there is none, or it is not known yet. */
  get latestAt(): number | undefined {
    return this.#latestAt
  }

  /** How many backups have failed since the service was started. */
  get failures(): number {
    return this.#failures
  }

  /** Makes a backup whenever one is due. Resolves after `stop`. */
  async run(): Promise<void> {
    const { signal } = this.#stopping
    let isKnown = false
    while (!signal.aborted) {
      const { everyMs } = this.#plan
      try {
        if (!isKnown) this.#note(await this.#ask({}))
        isKnown = true
        const dueMs = (this.#latestAt ?? 0) + everyMs - Date.now()
        if (dueMs > 0) {
          await sleep(Math.min(dueMs, longestTimerMs), undefined, { signal, ref: false })
          continue
        }
        const { made } = this.#note(await this.#ask({ name: momentName(new Date()) }))
        const { documents, contents, linked = 0, damaged = [] } = made!
        const fields = { documents, contents, linked, to: this.to }
        if (damaged.length === 0) this.#log.info(fields, 'a backup was made')
        else
          this.#log.error(
            { ...fields, damaged: damaged.flatMap((content) => content.documents) },
            'a backup was made; the content of these documents is damaged',
          )
      } catch (error) {
        if (signal.aborted) return
        this.#failures++
        this.#log.error({ error }, 'no backup was made; it is tried again')
        await sleep(Math.min(everyMs, retryMs), undefined, { signal, ref: false }).catch(() => undefined)
      }
    }
  }

  /** Ends `run` and a backup under way, which the next start makes again. */
  stop(): void {
    this.#stopping.abort()
    this.#processes.close()
  }

  #ask(task: Pick<BackupTask, 'name'>): Promise<BackupAnswer> {
    const { to, keep } = this.#plan
    return this.#processes.run({ to, keep, dataDir: this.#dataDir, ...task }, this.#stopping.signal)
  }

  #note(answer: BackupAnswer): BackupAnswer {
    this.#latestAt = answer.latest?.madeAt
    return answer
  }
}

/** `2026-11-22T10-11-12Z`. */
function momentName(moment: Date): string {
  return moment
    .toISOString()
    .replace(/\.\d{3}Z$/, 'Z')
    .replaceAll(':', '-')
}

/** The query of a bucket's URL may contain secrets that must not reach a log. */
function withoutQuery(to: string): string {
  return to.replace(/\?.*$/, '')
}
