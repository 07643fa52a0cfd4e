// Sends all writes to the embedded database to a thread with a connection of its own, so that neither the fsync of a commit nor
// another program's lock ever blocks the serving thread.

import { Worker } from 'node:worker_threads'
import { siblingFile } from '../../sibling-file.ts'
import { revive } from './carried-error.ts'
import type { ChangeArgument, ChangeName, ChangeResult } from './changes.ts'
import type { Answer } from './connection.ts'
import type { WriterAnswer, WriterData, WriterRequest } from './writer-protocol.ts'

interface Waiting {
  readonly resolve: (result: never) => void
  readonly reject: (error: Error) => void
}

type Unnumbered<Request> = Request extends WriterRequest ? Omit<Request, 'id'> : never

/** Longest time that another program may hold the lock of the database before waiting requests are refused. */
const waitLimitMs = 30_000

export class Writer {
  readonly #data: WriterData
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | undefined
  /** Sent in one message at the end of the turn of the event loop, because each message is expensive. */
  #outbox: WriterRequest[] = []
  #lastId = 0
  #lastSession = 0
  #otherChangeCount = 0
  #isClosed = false

  /** `file`: the database; `reserveFile`: reserves space on its disk (`reserve.ts`); `inPlace`: files to check before each write. */
  constructor(data: Omit<WriterData, 'waitLimitMs' | 'inPlace'> & Partial<WriterData>) {
    this.#data = { waitLimitMs, inPlace: [], ...data }
  }

  /** Resolves with the result when the change is durable; if it throws, it is undone, and `run` rejects with its error. */
  run<Name extends ChangeName>(name: Name, argument: ChangeArgument<Name>): Promise<ChangeResult<Name>> {
    return this.#ask({ kind: 'change', name, argument })
  }

  async statement(sql: string, parameters: readonly unknown[], session?: number): Promise<Answer> {
    try {
      return await this.#ask({ kind: 'statement', sql, parameters, session })
    } finally {
      this.#otherChangeCount++
    }
  }

  /** Grows with each change of keys, projects or tables, so that caches of them ask again. `run` changes only nodes and contents. */
  get otherChangeCount(): number {
    return this.#otherChangeCount
  }

  /** Begins a transaction of several statements, and returns its session; all other requests wait for its end. */
  async begin(): Promise<number> {
    const session = ++this.#lastSession
    await this.#ask({ kind: 'begin', session })
    return session
  }

  async end(session: number, isCommit: boolean): Promise<void> {
    try {
      await this.#ask({ kind: 'end', session, isCommit })
    } finally {
      this.#otherChangeCount++
    }
  }

  /** Ends the thread after all earlier requests. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    if (this.#worker !== undefined) await this.#ask({ kind: 'close' }).catch(() => undefined)
    this.#isClosed = true
    await this.#worker?.terminate()
  }

  #ask<Result>(request: Unnumbered<WriterRequest>): Promise<Result> {
    if (this.#isClosed) return Promise.reject(new Error('the store is closed'))
    const id = ++this.#lastId
    return new Promise<Result>((resolve, reject) => {
      const isIdle = this.#waiting.size === 0
      this.#waiting.set(id, { resolve, reject })
      this.#outbox.push({ ...request, id })
      // An idle writer gets the request without delay.
      if (isIdle) this.#send()
      else if (this.#outbox.length === 1) setImmediate(() => this.#send())
    })
  }

  #send(): void {
    if (this.#outbox.length === 0) return
    this.#worker ??= this.#start()
    const requests = this.#outbox
    this.#outbox = []
    this.#worker.postMessage(requests, [])
  }

  #start(): Worker {
    const worker = new Worker(siblingFile(import.meta.url, 'writer-thread'), {
      workerData: this.#data,
      name: 'writer',
    })
    worker.on('message', (answers: readonly WriterAnswer[]) => {
      for (const answer of answers) this.#answered(answer)
    })
    // If the thread dies, all waiting requests are rejected, and the next request starts another one.
    let cause: unknown
    worker.on('error', (error) => (cause = error))
    worker.on('exit', () => {
      if (this.#worker === worker) this.#worker = undefined
      this.#outbox = []
      for (const { reject } of this.#waiting.values()) reject(new Error('the writer has ended', { cause }))
      this.#waiting.clear()
    })
    return worker
  }

  #answered(answer: WriterAnswer): void {
    const waiting = this.#waiting.get(answer.id)
    this.#waiting.delete(answer.id)
    if ('error' in answer) waiting?.reject(revive(answer.error))
    else waiting?.resolve(answer.result as never)
  }
}
