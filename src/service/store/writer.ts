// Everything that writes to the database goes through here, to a thread with a connection of its own: neither a commit's
// fsync nor another program's lock ever stops the service's own thread.

import { Worker } from 'node:worker_threads'
import { siblingFile } from '../../sibling-file.ts'
import { arrived } from './carried-error.ts'
import type { ChangeArgument, ChangeName, ChangeResult } from './changes.ts'
import type { Answer } from './connection.ts'
import type { WriterAnswer, WriterData, WriterRequest } from './writer-protocol.ts'

interface Waiting {
  readonly resolve: (result: never) => void
  readonly reject: (error: Error) => void
}

type Unnumbered<Request> = Request extends WriterRequest ? Omit<Request, 'id'> : never

const waitLimitMs = 30_000

export class Writer {
  readonly #data: WriterData
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | undefined
  /** Sent together at the end of the turn: a message costs as much as what it carries. */
  #outbox: WriterRequest[] = []
  #lastId = 0
  #lastSession = 0
  #otherChanges = 0
  #isClosed = false

  /** `file`: the database's; `reserveFile` keeps room on its disk. */
  constructor(data: Omit<WriterData, 'waitLimitMs' | 'inPlace'> & Partial<WriterData>) {
    this.#data = { waitLimitMs, inPlace: [], ...data }
  }

  /** Resolves with what the change answers when it is durable; rejects with what it throws, and nothing has happened then. */
  run<Name extends ChangeName>(name: Name, argument: ChangeArgument<Name>): Promise<ChangeResult<Name>> {
    return this.#ask({ kind: 'change', name, argument })
  }

  async statement(sql: string, parameters: readonly unknown[], session?: number): Promise<Answer> {
    try {
      return await this.#ask({ kind: 'statement', sql, parameters, session })
    } finally {
      this.#otherChanges++
    }
  }

  /** Statements and transactions that are done. */
  get otherChanges(): number {
    return this.#otherChanges
  }

  /** A transaction of several statements; everybody else waits for its end. */
  async begin(): Promise<number> {
    const session = ++this.#lastSession
    await this.#ask({ kind: 'begin', session })
    return session
  }

  async end(session: number, isCommit: boolean): Promise<void> {
    try {
      await this.#ask({ kind: 'end', session, isCommit })
    } finally {
      this.#otherChanges++
    }
  }

  /** Requests made before are carried out first. */
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
      // A writer that has nothing to do begins at once.
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
    // Whatever ended it: nobody is left waiting, and the next request starts another.
    let cause: unknown
    worker.on('error', (error) => (cause = error))
    worker.on('exit', () => {
      if (this.#worker === worker) this.#worker = undefined
      for (const { reject } of this.#waiting.values()) reject(new Error('the writer has ended', { cause }))
      this.#waiting.clear()
    })
    return worker
  }

  #answered(answer: WriterAnswer): void {
    const waiting = this.#waiting.get(answer.id)
    this.#waiting.delete(answer.id)
    if ('error' in answer) waiting?.reject(arrived(answer.error))
    else waiting?.resolve(answer.result as never)
  }
}
