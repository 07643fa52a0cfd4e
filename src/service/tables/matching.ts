// The pool of threads that parse documents and match, with limits to time and memory: one run may fail, the service not.

import { availableParallelism } from 'node:os'
import PQueue from 'p-queue'
import { Piscina } from 'piscina'
import type { Log } from '../../log.ts'
import { ServiceError } from '../service-error.ts'
import { siblingFile } from '../../sibling-file.ts'
import type { StorePlace } from '../store/open-store.ts'
import type { DocumentBytes, MatchingAnswer, MatchingTask } from './matching-task.ts'

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
  /** Documents are loaded by whose turn it is: those who wait hold nothing but their request. */
  readonly #turns = new PQueue({ concurrency: maxThreads })
  readonly #pool: Piscina<MatchingTask, MatchingAnswer>
  readonly #runMs: number

  /** `place`: of the store. Threads begin when there is something to do. */
  constructor(place: StorePlace, log: Log, bounds: Partial<typeof defaultBounds> = {}) {
    const { runMs, megabytes } = { ...defaultBounds, ...bounds }
    this.#runMs = runMs
    this.#pool = new Piscina({
      filename: siblingFile(import.meta.url, 'matching-thread').href,
      name: 'match',
      workerData: { place },
      minThreads: 0,
      maxThreads,
      idleTimeout: idleMs,
      resourceLimits: { maxOldGenerationSizeMb: megabytes },
    })
    this.#pool.on('error', (error) => log.warn({ error }, 'a thread for reconciliation ended'))
  }

  /**
   * Loads the documents when it is the run's turn. Throws what `load` throws, ServiceError 413 when the run is too large, or takes
   * too long or too much memory; 503 when too many wait.
   */
  async run(
    task: Omit<MatchingTask, 'documents'>,
    load: () => Promise<DocumentBytes[]> = () => Promise.resolve([]),
  ): Promise<MatchingAnswer> {
    if (this.#turns.size >= maxWaitingRuns)
      throw new ServiceError(503, 'too many reconciliations are waiting: try again later')
    const signal = AbortSignal.timeout(this.#runMs)
    try {
      return await this.#turns.add(
        async () => {
          const documents = await load()
          const transferList = documents.map(({ bytes }) => bytes.buffer as ArrayBuffer)
          return this.#pool.run({ ...task, documents }, { signal, transferList })
        },
        { signal },
      )
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
  if (error.name === 'AbortError' || error.name === 'TimeoutError')
    return new ServiceError(
      413,
      `the run was not done within ${runMs / 1000} seconds: send several smaller ones`,
    )
  return undefined
}
