// Changes of a project take turns. They wait for its row, and each that waits there holds a connection: so most of
// them wait here, where waiting costs nothing, and the pool is left to other projects and to readers.

import PQueue from 'p-queue'
import type pg from 'pg'
import { ServiceError } from '../../service-error.ts'

/** Of one project: one that is at work, and one that has its connection and waits for the first to commit. */
const ofOneProject = 2
/** Of those that add many rows. */
const longTurns = 2
const waitLimitMs = 30_000

/** The turns of a node. A quarter of the pool is for readers, whatever is changed. */
export class NodeTurns {
  readonly projects: Turns
  /** Transactions that are open for long. One that has such a turn may wait for a project's turn, never the other way round. */
  readonly long: Turns = new Turns(longTurns)

  constructor(pool: pg.Pool) {
    this.projects = new Turns(Math.max(1, Math.ceil(pool.options.max * 0.75) - longTurns))
  }
}

export class Turns {
  readonly #all: PQueue
  readonly #waitMs: number
  readonly #queues = new Map<string, PQueue>()

  /** `most` changes at a time, of all projects. */
  constructor(most: number, waitMs: number = waitLimitMs) {
    this.#all = new PQueue({ concurrency: most })
    this.#waitMs = waitMs
  }

  /** Runs `work` when it is its turn. Throws ServiceError 503 where that takes too long. */
  async take<Result>(projectId: string, work: () => Promise<Result>): Promise<Result> {
    const waiting = new AbortController()
    const tooLong = setTimeout(() => {
      waiting.abort(new ServiceError(503, 'too many change this project at a time: try again'))
    }, this.#waitMs)
    const { signal } = waiting
    const begin = (): Promise<Result> => {
      clearTimeout(tooLong)
      return work()
    }
    const queue = this.#queueOf(projectId)
    try {
      return await queue.add(() => this.#all.add(begin, { signal }), { signal })
    } finally {
      clearTimeout(tooLong)
      if (queue.size + queue.pending === 0) this.#queues.delete(projectId)
    }
  }

  #queueOf(projectId: string): PQueue {
    let queue = this.#queues.get(projectId)
    if (queue === undefined) this.#queues.set(projectId, (queue = new PQueue({ concurrency: ofOneProject })))
    return queue
  }
}
