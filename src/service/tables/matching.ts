// Runs reconciliations in processes with limits of time and memory, so that a run may fail without harm to the service.

import type { Log } from '../../log.ts'
import { abortable } from '../../abortable.ts'
import { defaultLimits } from '../limits.ts'
import { ServiceError } from '../service-error.ts'
import { siblingFile } from '../../sibling-file.ts'
import type { StorePlace } from '../store/opened-store.ts'
import { FairTurns } from './fair-turns.ts'
import type { DocumentBytes, MatchingAnswer, MatchingOrder, MatchingTask } from './matching-task.ts'
import { ProcessEndedError, TaskProcesses } from './task-processes.ts'

interface Bounds {
  /** Milliseconds of a run, its wait included. The interface describes runs of less than 60 seconds. */
  readonly runMs: number
  /** Heap bytes of one process: its indexes, and the run under way. 0 is no limit. */
  readonly bytes: number
  /** Concurrent runs, each in a process. 0 is no limit. */
  readonly threads: number
}

const defaultBounds: Bounds = {
  runMs: 60_000,
  bytes: defaultLimits.matchingBytes,
  threads: defaultLimits.matchingThreads,
}
const maxWaitingRuns = 64
/** An idle process ends after this time, to free its memory. */
const idleMs = 10 * 60_000

export class Matching {
  /** Documents are loaded when the turn comes: a waiting run has only its request in memory. */
  readonly #turns: FairTurns
  readonly #processes: TaskProcesses<MatchingOrder, MatchingAnswer>
  readonly #place: StorePlace
  readonly #runMs: number
  readonly #log: Log

  /** `place`: of the store. Processes start with the first runs. */
  constructor(place: StorePlace, log: Log, bounds: Partial<Bounds> = {}) {
    const { runMs, bytes, threads } = { ...defaultBounds, ...bounds }
    this.#place = place
    this.#runMs = runMs
    this.#log = log
    this.#turns = new FairTurns(threads === 0 ? Infinity : threads, maxWaitingRuns, tooMany)
    this.#processes = new TaskProcesses(siblingFile(import.meta.url, 'matching-process'), {
      heapBytes: bytes,
      idleMs,
    })
  }

  /**
   * Loads the documents and matches when it is the turn of `keyId`: keys take turns. Throws errors of `load`; ServiceError 413 if
   * the run needs too much memory or time, 503 if too many wait; ProcessEndedError if its process dies or cannot start.
   */
  async run(
    keyId: string,
    task: Omit<MatchingTask, 'documents'>,
    load: () => Promise<DocumentBytes[]> = () => Promise.resolve([]),
  ): Promise<MatchingAnswer> {
    const signal = AbortSignal.timeout(this.#runMs)
    let startedMs = Infinity
    const turn = this.#turns.take(
      keyId,
      async () => {
        // The place stays taken until its process is free or gone, also after the run was refused.
        startedMs = performance.now()
        return this.#match(task, await load(), signal)
      },
      signal,
    )
    try {
      return await abortable(turn, signal)
    } catch (error) {
      // A run that waited for more than half of its time timed out because of others.
      const isOwnFault = (performance.now() - startedMs) * 2 >= this.#runMs
      if (error === signal.reason) throw isOwnFault ? tooLong(this.#runMs) : tooMany()
      if (!(error instanceof ProcessEndedError)) throw error
      this.#log.warn({ error }, 'a process for reconciliation ended')
      throw error.hasNoMemory ? tooLarge() : error
    }
  }

  /** Counts of runs. */
  get load(): { readonly waiting: number; readonly running: number } {
    return { waiting: this.#turns.waitingCount, running: this.#turns.runningCount }
  }

  /** Starts no more runs, and kills those under way. */
  close(): void {
    this.#turns.close()
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
