// The processes that parse documents and match, with limits to time and memory: one run may fail, the service not.

import { availableParallelism } from 'node:os'
import PQueue from 'p-queue'
import type { Log } from '../../log.ts'
import { abortable } from '../../abortable.ts'
import { ServiceError } from '../service-error.ts'
import { siblingFile } from '../../sibling-file.ts'
import type { StorePlace } from '../store/opened-store.ts'
import type { DocumentBytes, MatchingAnswer, MatchingOrder, MatchingTask } from './matching-task.ts'
import { ProcessEndedError, TaskProcesses } from './task-processes.ts'

/** One processor is left to those who are served meanwhile. */
const maxProcesses = Math.max(2, Math.min(4, availableParallelism() - 1))
const defaultBounds = {
  /** From being asked for to its end. The interface speaks of runs under 60 seconds. */
  runMs: 60_000,
  /** Of one process's heap: its indexes, and the run under way. */
  megabytes: 1024,
}
const maxWaitingRuns = 64
/** A process that idles so long gives back its memory. */
const idleMs = 10 * 60_000

export class Matching {
  /** Documents are loaded by whose turn it is: those who wait hold nothing but their request. */
  readonly #turns = new PQueue({ concurrency: maxProcesses })
  readonly #processes: TaskProcesses<MatchingOrder, MatchingAnswer>
  readonly #place: StorePlace
  readonly #runMs: number
  readonly #log: Log

  /** `place`: of the store. Processes begin when there is something to do. */
  constructor(place: StorePlace, log: Log, bounds: Partial<typeof defaultBounds> = {}) {
    const { runMs, megabytes } = { ...defaultBounds, ...bounds }
    this.#place = place
    this.#runMs = runMs
    this.#log = log
    this.#processes = new TaskProcesses(siblingFile(import.meta.url, 'matching-process'), {
      heapMegabytes: megabytes,
      idleMs,
    })
  }

  /**
   * Loads the documents when it is the run's turn. Throws what `load` throws, ServiceError 413 when the run is too large, or takes
   * too long or too much memory; 503 when too many wait; a ProcessEndedError when its process dies or cannot begin.
   */
  async run(
    task: Omit<MatchingTask, 'documents'>,
    load: () => Promise<DocumentBytes[]> = () => Promise.resolve([]),
  ): Promise<MatchingAnswer> {
    if (this.#turns.size >= maxWaitingRuns) throw tooMany()
    const signal = AbortSignal.timeout(this.#runMs)
    const waiting = new AbortController()
    const giveUpWaiting = (): void => waiting.abort(signal.reason)
    signal.addEventListener('abort', giveUpWaiting)
    let begunMs = Infinity
    const turn = this.#turns.add(
      async () => {
        // From here on the place is taken until all that was begun is gone, however long ago the run was refused.
        signal.removeEventListener('abort', giveUpWaiting)
        begunMs = performance.now()
        return this.#match(task, await load(), signal)
      },
      { signal: waiting.signal },
    )
    try {
      return await abortable(turn, signal)
    } catch (error) {
      // Whose turn came late has less to blame itself for than those before it.
      const isOwnFault = (performance.now() - begunMs) * 2 >= this.#runMs
      if (error === signal.reason) throw isOwnFault ? tooLong(this.#runMs) : tooMany()
      if (!(error instanceof ProcessEndedError)) throw error
      this.#log.warn({ error }, 'a process for reconciliation ended')
      throw error.hasNoMemory ? tooLarge() : error
    }
  }

  /** Nobody's turn comes any more, and what runs is given up at once. */
  close(): void {
    this.#turns.pause()
    this.#processes.close()
  }

  #match(
    task: Omit<MatchingTask, 'documents'>,
    loaded: readonly DocumentBytes[],
    signal: AbortSignal,
  ): Promise<MatchingAnswer> {
    const documents = loaded.map(({ bytes, ...document }) => ({ ...document, length: bytes.byteLength }))
    const order = { ...task, place: this.#place, documents }
    return this.#processes.run(
      order,
      signal,
      loaded.map(({ bytes }) => bytes),
    )
  }
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
