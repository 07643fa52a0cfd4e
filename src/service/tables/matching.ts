// The threads that parse documents and match, with limits to time and memory: one run may fail, the service not.

import { availableParallelism } from 'node:os'
import PQueue from 'p-queue'
import type { Log } from '../../log.ts'
import { ServiceError } from '../service-error.ts'
import { siblingFile } from '../../sibling-file.ts'
import type { StorePlace } from '../store/opened-store.ts'
import type { DocumentBytes, MatchingAnswer, MatchingTask } from './matching-task.ts'
import { TaskThreads, ThreadEndedError } from './task-threads.ts'

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
  readonly #threads: TaskThreads<MatchingTask, MatchingAnswer>
  readonly #runMs: number
  readonly #log: Log

  /** `place`: of the store. Threads begin when there is something to do. */
  constructor(place: StorePlace, log: Log, bounds: Partial<typeof defaultBounds> = {}) {
    const { runMs, megabytes } = { ...defaultBounds, ...bounds }
    this.#runMs = runMs
    this.#log = log
    this.#threads = new TaskThreads(siblingFile(import.meta.url, 'matching-thread'), {
      workerData: { place },
      resourceLimits: { maxOldGenerationSizeMb: megabytes },
      idleMs,
    })
  }

  /**
   * Loads the documents when it is the run's turn. Throws what `load` throws, ServiceError 413 when the run is too large, or takes
   * too long or too much memory; 503 when too many wait; a ThreadEndedError when its thread dies or cannot begin.
   */
  async run(
    task: Omit<MatchingTask, 'documents'>,
    load: () => Promise<DocumentBytes[]> = () => Promise.resolve([]),
  ): Promise<MatchingAnswer> {
    if (this.#turns.size >= maxWaitingRuns) throw tooMany()
    const signal = AbortSignal.timeout(this.#runMs)
    let begunMs = Infinity
    try {
      return await this.#turns.add(
        async () => {
          begunMs = performance.now()
          const documents = await load()
          const transferList = documents.map(({ bytes }) => bytes.buffer as ArrayBuffer)
          return this.#threads.run({ ...task, documents }, signal, transferList)
        },
        { signal },
      )
    } catch (error) {
      // Whose turn came late has less to blame itself for than those before it.
      const isOwnFault = (performance.now() - begunMs) * 2 >= this.#runMs
      if (error === signal.reason) throw isOwnFault ? tooLong(this.#runMs) : tooMany()
      if (!(error instanceof ThreadEndedError)) throw error
      this.#log.warn({ error }, 'a thread for reconciliation ended')
      throw hasNoMemory(error) ? tooLarge() : error
    }
  }

  async close(): Promise<void> {
    await this.#threads.close()
  }
}

function hasNoMemory({ cause }: ThreadEndedError): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY'
}

function tooLarge(): ServiceError {
  return new ServiceError(413, 'the run needs more memory than one may take: send several smaller ones')
}

function tooLong(runMs: number): ServiceError {
  return new ServiceError(
    413,
    `the run was not done within ${runMs / 1000} seconds: send several smaller ones`,
  )
}

function tooMany(): ServiceError {
  return new ServiceError(503, 'too many reconciliations are waiting: try again later')
}
