// Turns for changes of the same project. They lock the project's row one after the other, and each that waits in PostgreSQL
// occupies a connection. So most of them wait here, and the pool stays free for other projects and for readers.

import PQueue from 'p-queue'
import type pg from 'pg'
import { ServiceError } from '../../service-error.ts'

/** Concurrent changes of one project: one runs, and one has a connection and waits for the first to commit. */
const changesPerProject = 2
/** Concurrent long transactions, which add or remove many rows. */
const longTurns = 2
const waitLimitMs = 30_000

/** The turns for one pool. A quarter of its connections is left to readers. */
export class PoolTurns {
  readonly projects: Turns
  /** For long transactions. One with such a turn may wait for a turn of a project, never the other way round: no deadlock. */
  readonly long: Turns = new Turns(longTurns)

  constructor(pool: pg.Pool) {
    this.projects = new Turns(Math.max(1, Math.ceil(pool.options.max * 0.75) - longTurns))
  }
}

export class Turns {
  readonly #all: PQueue
  readonly #waitMs: number
  readonly #queues = new Map<string, PQueue>()

  /** `most`: concurrent changes of all projects together. `waitMs`: longest wait for a turn. */
  constructor(most: number, waitMs: number = waitLimitMs) {
    this.#all = new PQueue({ concurrency: most })
    this.#waitMs = waitMs
  }

  /** Runs `work` when it is its turn. Throws ServiceError 503 after `waitMs` without one. */
  async take<Result>(projectId: string, work: () => Promise<Result>): Promise<Result> {
    const wait = new AbortController()
    const timeout = setTimeout(() => {
      wait.abort(new ServiceError(503, 'too many change this project at a time: try again'))
    }, this.#waitMs)
    const { signal } = wait
    const begin = (): Promise<Result> => {
      clearTimeout(timeout)
      return work()
    }
    const queue = this.#queueOf(projectId)
    try {
      return await queue.add(() => this.#all.add(begin, { signal }), { signal })
    } finally {
      clearTimeout(timeout)
      const isCurrent = this.#queues.get(projectId) === queue
      if (isCurrent && queue.size + queue.pending === 0) this.#queues.delete(projectId)
    }
  }

  #queueOf(projectId: string): PQueue {
    let queue = this.#queues.get(projectId)
    if (queue === undefined)
      this.#queues.set(projectId, (queue = new PQueue({ concurrency: changesPerProject })))
    return queue
  }
}
