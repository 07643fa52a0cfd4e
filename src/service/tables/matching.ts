// The processes that parse documents and match, with limits to time and memory: one run may fail, the service not.

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
  /** From being asked for to its end. The interface speaks of runs under 60 seconds. */
  readonly runMs: number
  /** Of one process's heap: its indexes, and the run under way. 0 is no limit. */
  readonly bytes: number
  /** Runs at a time, each in a process. 0 is no limit. */
  readonly threads: number
}

const defaultBounds: Bounds = {
  runMs: 60_000,
  bytes: defaultLimits.matchingBytes,
  threads: defaultLimits.matchingThreads,
}
const maxWaitingRuns = 64
/** A process that idles so long gives back its memory. */
const idleMs = 10 * 60_000

export class Matching {
  /** Documents are loaded by whose turn it is: those who wait hold nothing but their request. */
  readonly #turns: FairTurns
  readonly #processes: TaskProcesses<MatchingOrder, MatchingAnswer>
  readonly #place: StorePlace
  readonly #runMs: number
  readonly #log: Log

  /** `place`: of the store. Processes begin when there is something to do. */
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
   * Loads the documents when it is the run's turn; `keyId` is whose. Throws what `load` throws, ServiceError 413 when the run is too
   * large, or takes too long or too much memory; 503 when too many wait; a ProcessEndedError when its process dies or cannot begin.
   */
  async run(
    keyId: string,
    task: Omit<MatchingTask, 'documents'>,
    load: () => Promise<DocumentBytes[]> = () => Promise.resolve([]),
  ): Promise<MatchingAnswer> {
    const signal = AbortSignal.timeout(this.#runMs)
    let begunMs = Infinity
    const turn = this.#turns.take(
      keyId,
      async () => {
        // The place is taken until all that was begun is gone, however long ago the run was refused.
        begunMs = performance.now()
        return this.#match(task, await load(), signal)
      },
      signal,
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

  /** Runs that wait for their turn, and those under way. */
  get load(): { readonly waiting: number; readonly running: number } {
    return { waiting: this.#turns.waiting, running: this.#turns.working }
  }

  /** Runs that wait get no turn any more, and those under way are given up at once. */
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
