// The pool of threads that parse documents and match, with limits to time and memory: one run may fail, the service not.

import { availableParallelism } from 'node:os'
import { Piscina } from 'piscina'
import type { Log } from '../../log.ts'
import { ServiceError } from '../service-error.ts'
import { siblingFile } from '../../sibling-file.ts'
import type { MatchingAnswer, MatchingTask } from './matching-task.ts'

/** One processor is left to those who are served meanwhile. */
const maxThreads = Math.max(2, Math.min(4, availableParallelism() - 1))
const defaultBounds = {
  /** From being asked for to its end. The interface speaks of runs under 60 seconds. */
  runMs: 60_000,
  /** Of one thread: its indexes, and the run under way. */
  megabytes: 1024,
}
const maxWaitingRuns = 64
/** A thread that idles so long gives back its memory. */
const idleMs = 10 * 60_000

export class Matching {
  readonly #pool: Piscina<MatchingTask, MatchingAnswer>
  readonly #runMs: number

  /** `dataDir`: of the service. Threads begin when there is something to do. */
  constructor(dataDir: string, log: Log, bounds: Partial<typeof defaultBounds> = {}) {
    const { runMs, megabytes } = { ...defaultBounds, ...bounds }
    this.#runMs = runMs
    this.#pool = new Piscina({
      filename: siblingFile(import.meta.url, 'matching-thread').href,
      name: 'match',
      workerData: { dataDir },
      minThreads: 0,
      maxThreads,
      idleTimeout: idleMs,
      maxQueue: maxWaitingRuns,
      resourceLimits: { maxOldGenerationSizeMb: megabytes },
    })
    this.#pool.on('error', (error) => log.warn({ error }, 'a thread for reconciliation ended'))
  }

  /** Throws ServiceError 413 when the run is too large, or takes too long or too much memory; 503 when too many wait. */
  async run(task: MatchingTask): Promise<MatchingAnswer> {
    try {
      return await this.#pool.run(task, {
        signal: AbortSignal.timeout(this.#runMs),
        transferList: task.documents.map(({ bytes }) => bytes.buffer as ArrayBuffer),
      })
    } catch (error) {
      throw refusalOf(error, this.#runMs) ?? error
    }
  }

  async close(): Promise<void> {
    await this.#pool.destroy()
  }
}

function refusalOf(error: unknown, runMs: number): ServiceError | undefined {
  if (!(error instanceof Error)) return undefined
  const { code } = error as { code?: unknown }
  if (code === 'ERR_WORKER_OUT_OF_MEMORY')
    return new ServiceError(413, 'the run needs more memory than one may take: send several smaller ones')
  if (error.name === 'AbortError')
    return new ServiceError(
      413,
      `the run was not done within ${runMs / 1000} seconds: send several smaller ones`,
    )
  if (/queue is at limit/i.test(error.message))
    return new ServiceError(503, 'too many reconciliations are waiting: try again later')
  return undefined
}
