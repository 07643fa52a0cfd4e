// Child processes that run one task at a time each. If a process dies, or cannot start, its task rejects. Threads would not do: a
// full heap of one ends the whole program, and one in a long native call cannot be ended.

import { type ChildProcess, fork } from 'node:child_process'
import { Socket } from 'node:net'
import { childEnvironment } from '../../child-environment.ts'
import { revive } from '../store/carried-error.ts'
import type { CarriedError } from '../store/writer-protocol.ts'

/** The message that a process sends back for each task. */
export type TaskAnswer<Result> = { readonly result: Result } | { readonly error: CarriedError }

export interface ProcessOptions {
  /** Heap bytes of one process, which dies beyond them. 0 is no limit. */
  readonly heapBytes: number
  /** Milliseconds after which an idle process is ended. */
  readonly idleMs: number
  /** True if the process needs the keys in the environment, for example those of a bucket. Default: false. */
  readonly hasKeys?: boolean
}

/** The process ended, or could not start, so its task is not done. */
export class ProcessEndedError extends Error {
  override readonly name = 'ProcessEndedError'
  /** True if it died because its heap was full. */
  readonly hasNoMemory: boolean

  constructor(message: string, errorOutput: string, cause?: Error) {
    super(errorOutput === '' ? message : `${message}: ${errorOutput}`, { cause })
    this.hasNoMemory = /out of memory/i.test(errorOutput)
  }
}

export class TaskProcesses<Task, Result> {
  readonly #file: URL
  readonly #options: ProcessOptions
  readonly #all = new Set<TaskProcess<Task, Result>>()
  readonly #idle: TaskProcess<Task, Result>[] = []

  /** `file`: the module to run. Processes start with the first tasks. */
  constructor(file: URL, options: ProcessOptions) {
    this.#file = file
    this.#options = options
  }

  /**
   * Runs a task in an idle process or a new one; the caller limits how many run at a time. The process reads `bytes` from its
   * standard input. Throws ProcessEndedError, the task's error, or the signal's reason, after the process is killed and gone.
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

  /** Kills all processes, and does not wait for their end. */
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

/** UTF-16 units of a process's standard error in messages: V8 writes its reason first. */
const maxErrorOutput = 2_000

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
    // An idle process and its streams do not keep the program running.
    child.unref()
    child.channel?.unref()
    for (const stream of [child.stdin, child.stderr]) if (stream instanceof Socket) stream.unref()
    let errorOutput = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      errorOutput = `${errorOutput}${text}`.slice(0, maxErrorOutput)
    })
    // The `close` event below reports the end of the process.
    child.stdin?.on('error', () => {})
    child.on('message', (answer: TaskAnswer<Result>) => {
      // Ignores an answer that was under way when its process was killed.
      if (this.#hasEnded) return
      if ('error' in answer) this.#awaited?.reject(revive(answer.error))
      else this.#awaited?.resolve(answer.result)
    })
    const onEnd = (message: string, cause?: Error): void => {
      this.#hasEnded = true
      clearTimeout(this.#idling)
      ended()
      this.#awaited?.reject(new ProcessEndedError(message, errorOutput.trim(), cause))
    }
    child.on('error', (error) => {
      if (child.pid === undefined) onEnd('the process could not begin', error)
    })
    child.on('close', (code, signal) => onEnd(`the process has ended (${signal ?? `exit ${code}`})`))
  }

  /** True also if the process was killed and has not closed yet. */
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
        // A failure to send needs no handling: the process has ended, and `close` rejects.
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
