// Backups that the service makes of itself, one at a time, in a process of their own. The time of the latest one is in the
// place they go to, so a service that is started often makes no more of them.

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
  /** How many are kept; older ones are removed once a newer one is whole. */
  readonly keep: number
}

/** After one that failed, in milliseconds; sooner where they are made more often. */
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
      hasKeys: true,
    })
  }

  /** Without what is behind a question mark. */
  get to(): string {
    return withoutQuery(this.#plan.to)
  }

  get everyMs(): number {
    return this.#plan.everyMs
  }

  /** Of the latest whole backup, in epoch milliseconds; undefined where there is none, or it is not known yet. */
  get latestAt(): number | undefined {
    return this.#latestAt
  }

  /** How many have failed since the service was started. */
  get failures(): number {
    return this.#failures
  }

  /** Makes one whenever it is due. The answer resolves when `stop` has ended it. */
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
        const told = { documents, contents, linked, to: this.to }
        if (damaged.length === 0) this.#log.info(told, 'a backup was made')
        else
          this.#log.error(
            { ...told, damaged: damaged.flatMap((content) => content.documents) },
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

  /** A backup under way is given up; the next start makes it anew. */
  stop(): void {
    this.#stopping.abort()
    this.#processes.close()
  }

  #ask(what: Pick<BackupTask, 'name'>): Promise<BackupAnswer> {
    const { to, keep } = this.#plan
    return this.#processes.run({ to, keep, dataDir: this.#dataDir, ...what }, this.#stopping.signal)
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

/** A URL's query says where a bucket is, and may say more than a log should. */
function withoutQuery(to: string): string {
  return to.replace(/\?.*$/, '')
}
