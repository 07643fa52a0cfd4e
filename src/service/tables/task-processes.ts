// Processes that do one task at a time each. Whatever ends a process, or keeps it from beginning, is told to its task. Not
// threads: one whose heap is full takes the whole program with it, and one in a long native call cannot be ended.

import { type ChildProcess, fork } from 'node:child_process'
import { Socket } from 'node:net'
import { childEnvironment } from '../../child-environment.ts'
import { arrived } from '../store/carried-error.ts'
import type { CarriedError } from '../store/writer-protocol.ts'

/** The message that a process sends back for each task. */
export type TaskAnswer<Result> = { readonly result: Result } | { readonly error: CarriedError }

export interface ProcessOptions {
  /** Of one process; it ends beyond that. 0 is no limit. */
  readonly heapBytes: number
  /** One that idles so long ends, in milliseconds. */
  readonly idleMs: number
  /** It needs the keys in our environment, as what reaches a bucket does. */
  readonly hasKeys?: boolean
}

/** The process is no more, and its task not done. */
export class ProcessEndedError extends Error {
  override readonly name = 'ProcessEndedError'
  /** It asked for more memory than it may have. */
  readonly hasNoMemory: boolean

  constructor(how: string, lastWords: string, cause?: Error) {
    super(lastWords === '' ? how : `${how}: ${lastWords}`, { cause })
    this.hasNoMemory = /out of memory/i.test(lastWords)
  }
}

export class TaskProcesses<Task, Result> {
  readonly #file: URL
  readonly #options: ProcessOptions
  readonly #all = new Set<TaskProcess<Task, Result>>()
  readonly #idle: TaskProcess<Task, Result>[] = []

  /** Processes begin when there is something to do. */
  constructor(file: URL, options: ProcessOptions) {
    this.#file = file
    this.#options = options
  }

  /**
   * As many processes as tasks at a time. `bytes` can be read from the process's standard input. Throws a ProcessEndedError,
   * what the task throws, or the signal's reason, which ends the process; it is gone by then.
   */
  async run(task: Task, signal: AbortSignal, bytes: readonly Uint8Array[] = []): Promise<Result> {
    signal.throwIfAborted()
    const process = this.#idle.pop() ?? this.#start()
    try {
      return await process.run(task, signal, bytes)
    } finally {
      if (!process.hasEnded) {
        this.#idle.push(process)
        process.endAfter(this.#options.idleMs)
      }
    }
  }

  /** Ends them, and does not wait for that. */
  close(): void {
    for (const process of this.#all) process.end()
  }

  #start(): TaskProcess<Task, Result> {
    const process = new TaskProcess<Task, Result>(this.#file, this.#options, () => {
      this.#all.delete(process)
      const at = this.#idle.indexOf(process)
      if (at !== -1) this.#idle.splice(at, 1)
    })
    this.#all.add(process)
    return process
  }
}

/** UTF-16 units of what a process says on standard error: the reason is at the beginning of V8's last words. */
const maxLastWords = 2_000

class TaskProcess<Task, Result> {
  readonly #child: ChildProcess
  #awaited: { resolve(result: Result): void; reject(error: unknown): void } | undefined
  #idling: NodeJS.Timeout | undefined
  #hasEnded = false

  constructor(file: URL, { heapBytes, hasKeys = false }: ProcessOptions, ended: () => void) {
    const child = fork(file, [], {
      env: hasKeys ? process.env : childEnvironment(),
      execArgv: heapBytes === 0 ? [] : [`--max-old-space-size=${Math.ceil(heapBytes / 2 ** 20)}`],
      serialization: 'advanced',
      stdio: ['pipe', 'ignore', 'pipe', 'ipc'],
    })
    this.#child = child
    // The process and its streams do not keep the program from its end.
    child.unref()
    child.channel?.unref()
    for (const stream of [child.stdin, child.stderr]) if (stream instanceof Socket) stream.unref()
    let lastWords = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      lastWords = `${lastWords}${text}`.slice(0, maxLastWords)
    })
    // Its end is told below.
    child.stdin?.on('error', () => {})
    child.on('message', (answer: TaskAnswer<Result>) => {
      // An answer that was under way when its process was ended.
      if (this.#hasEnded) return
      if ('error' in answer) this.#awaited?.reject(arrived(answer.error))
      else this.#awaited?.resolve(answer.result)
    })
    const over = (how: string, cause?: Error): void => {
      this.#hasEnded = true
      clearTimeout(this.#idling)
      ended()
      this.#awaited?.reject(new ProcessEndedError(how, lastWords.trim(), cause))
    }
    child.on('error', (error) => {
      if (child.pid === undefined) over('the process could not begin', error)
    })
    child.on('close', (code, signal) => over(`the process has ended (${signal ?? `exit ${code}`})`))
  }

  /** Or is about to. */
  get hasEnded(): boolean {
    return this.#hasEnded
  }

  async run(task: Task, signal: AbortSignal, bytes: readonly Uint8Array[]): Promise<Result> {
    clearTimeout(this.#idling)
    const giveUp = (): void => this.end()
    signal.addEventListener('abort', giveUp, { once: true })
    try {
      return await new Promise<Result>((resolve, reject) => {
        this.#awaited = { resolve, reject }
        // Where it cannot be sent, the process has ended.
        this.#child.send(task as object, () => {})
        for (const piece of bytes) this.#child.stdin?.write(piece)
      })
    } catch (error) {
      throw error instanceof ProcessEndedError && signal.aborted ? signal.reason : error
    } finally {
      this.#awaited = undefined
      signal.removeEventListener('abort', giveUp)
    }
  }

  endAfter(idleMs: number): void {
    this.#idling = setTimeout(() => this.end(), idleMs).unref()
  }

  end(): void {
    this.#hasEnded = true
    this.#child.kill('SIGKILL')
  }
}
