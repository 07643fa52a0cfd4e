// Threads that do one task at a time each. Whatever ends a thread, or keeps it from beginning, is told to its task at once.

import { type ResourceLimits, Worker } from 'node:worker_threads'
import { arrived } from '../store/carried-error.ts'
import type { CarriedError } from '../store/writer-protocol.ts'

/** What a thread sends back for each task. */
export type TaskAnswer<Result> = { readonly result: Result } | { readonly error: CarriedError }

export interface ThreadOptions {
  readonly workerData: unknown
  readonly resourceLimits: ResourceLimits
  /** One that idles so long ends, in milliseconds. */
  readonly idleMs: number
}

/** The thread is no more, and its task not done. `cause`: why, where that is known. */
export class ThreadEndedError extends Error {
  override readonly name = 'ThreadEndedError'
}

export class TaskThreads<Task, Result> {
  readonly #file: URL
  readonly #options: ThreadOptions
  readonly #all = new Set<Thread<Task, Result>>()
  readonly #idle: Thread<Task, Result>[] = []

  /** Threads begin when there is something to do. */
  constructor(file: URL, options: ThreadOptions) {
    this.#file = file
    this.#options = options
  }

  /** As many threads as tasks at a time. Throws a ThreadEndedError, what the task throws, or the signal's reason, which ends the thread. */
  async run(task: Task, signal: AbortSignal, transferList: readonly ArrayBuffer[] = []): Promise<Result> {
    signal.throwIfAborted()
    const thread = this.#idle.pop() ?? this.#start()
    try {
      return await thread.run(task, signal, transferList)
    } finally {
      if (!thread.hasEnded) {
        this.#idle.push(thread)
        thread.endAfter(this.#options.idleMs)
      }
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all].map((thread) => thread.end()))
  }

  #start(): Thread<Task, Result> {
    const thread = new Thread<Task, Result>(this.#file, this.#options, () => {
      this.#all.delete(thread)
      const at = this.#idle.indexOf(thread)
      if (at !== -1) this.#idle.splice(at, 1)
    })
    this.#all.add(thread)
    return thread
  }
}

class Thread<Task, Result> {
  readonly #worker: Worker
  #awaited: { resolve(result: Result): void; reject(error: unknown): void } | undefined
  #idling: NodeJS.Timeout | undefined
  #hasEnded = false

  constructor(file: URL, { workerData, resourceLimits }: ThreadOptions, ended: () => void) {
    this.#worker = new Worker(file, { workerData, resourceLimits, name: 'match' })
    this.#worker.on('message', (answer: TaskAnswer<Result>) => {
      const awaited = this.#awaited
      this.#awaited = undefined
      if ('error' in answer) awaited?.reject(arrived(answer.error))
      else awaited?.resolve(answer.result)
    })
    let cause: unknown
    this.#worker.on('error', (error) => (cause = error))
    this.#worker.on('exit', () => {
      this.#hasEnded = true
      clearTimeout(this.#idling)
      ended()
      this.#awaited?.reject(new ThreadEndedError('the thread has ended', { cause }))
    })
  }

  /** Or is about to. */
  get hasEnded(): boolean {
    return this.#hasEnded
  }

  async run(task: Task, signal: AbortSignal, transferList: readonly ArrayBuffer[]): Promise<Result> {
    clearTimeout(this.#idling)
    const giveUp = (): void => {
      this.#awaited?.reject(signal.reason)
      void this.end()
    }
    signal.addEventListener('abort', giveUp, { once: true })
    try {
      return await new Promise<Result>((resolve, reject) => {
        this.#awaited = { resolve, reject }
        this.#worker.postMessage(task, [...transferList])
      })
    } finally {
      this.#awaited = undefined
      signal.removeEventListener('abort', giveUp)
    }
  }

  endAfter(idleMs: number): void {
    this.#idling = setTimeout(() => void this.end(), idleMs).unref()
  }

  async end(): Promise<void> {
    this.#hasEnded = true
    await this.#worker.terminate()
  }
}
