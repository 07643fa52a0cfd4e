// The session of one mount: passes each request to its operation, and sends the result or errno as one answer. A result that
// is no promise is sent synchronously. Errors are logged or answered, never thrown.

import { constants } from 'node:os'
import { errnoOf } from '../../fs/errno-of.ts'
import type { Notifier, Operations } from '../../fs/operations.ts'
import type { Log } from '../../log.ts'
import { errnoNumber } from '../errno-number.ts'
import type { Channel, Message, Receive } from './channel.ts'
import { answerInit } from './init.ts'
import { Interrupts } from './interrupts.ts'
import { Notifications } from './notifications.ts'
import { opcode, opcodeName } from './protocol-opcodes.ts'
import { batchForgetIn, forgetIn, forgetOne, initOut, interruptIn } from './protocol-structs.ts'
import type { Operation } from './operations/operation.ts'
import { refusedWith } from './operations/table.ts'
import { Reply } from './reply.ts'
import { Request } from './request.ts'
import { UnheardNames } from './unheard-names.ts'

/** Opens the channel to a new mount. */
export type Connect = (receive: Receive) => Channel

export class Session {
  readonly notifier: Notifier
  /** Resolves with true when INIT was answered; with false if the kernel is too old, or the connection ended before. */
  readonly ready: Promise<boolean>
  /** Resolves when the connection has ended. */
  readonly closed: Promise<void>
  readonly #operations: Operations
  readonly #log: Log
  /** Handlers by opcode. */
  readonly #table: ReadonlyMap<number, Operation>
  readonly #channel: Channel
  readonly #reply: Reply
  /** Requests whose answer is a promise, by `unique`. */
  readonly #waiting = new Map<number, Request>()
  readonly #interrupts = new Interrupts((request) => this.#giveUp(request))
  readonly #unheard = new UnheardNames()
  #setReady: (isAgreed: boolean) => void = () => {}

  constructor(connect: Connect, operations: Operations, log: Log, table: ReadonlyMap<number, Operation>) {
    this.#operations = operations
    this.#table = table
    this.#log = log
    this.ready = new Promise((resolve) => (this.#setReady = resolve))
    this.#channel = connect((message, length) => this.#receive(message, length))
    this.#reply = new Reply(this.#channel)
    this.notifier = new Notifications((message) => this.#channel.notify(message), this.#unheard)
    const answerAll = (): void => this.#answerAll()
    // A notification may wait for a kernel lock whose holder waits for our answer: answer, or the process could not exit.
    process.once('exit', answerAll)
    this.closed = this.#channel.closed.then(() => {
      process.off('exit', answerAll)
      this.#setReady(false)
      this.#answerAll()
    })
  }

  /** Number of unanswered requests. */
  get waitingRequests(): number {
    return this.#waiting.size
  }

  /** Ends the connection, even if programs still use the mount. */
  close(): void {
    this.#answerAll()
    this.#channel.close()
  }

  #receive(message: Message, length: number): Promise<void> | undefined {
    const request = new Request(message, length, this.#unheard)
    const operation = this.#table.get(request.opcode)
    if (operation !== undefined) return this.#ask(operation, request)
    this.#receiveOther(request)
    return undefined
  }

  #ask(operation: Operation, request: Request): Promise<void> | undefined {
    let result
    try {
      result = operation.call(this.#operations, request)
    } catch (error) {
      this.#refuse(request, error)
      return undefined
    }
    if (!(result instanceof Promise)) {
      this.#answer(operation, request, result)
      return undefined
    }
    request.isReadOnly = operation.isReadOnly?.(request) ?? false
    this.#waiting.set(request.unique, request)
    const answered = result.then(
      (value) => this.#answer(operation, request, value),
      (error: unknown) => this.#refuse(request, error),
    )
    return operation.keepsBuffer === true ? answered : undefined
  }

  #answer(operation: Operation, request: Request, result: unknown): void {
    this.#remove(request)
    try {
      this.#reply.unique = request.unique
      if (!request.isAnswered && operation.answer(this.#reply, result)) return
    } catch (error) {
      this.#refuse(request, error)
    } finally {
      request.over()
    }
    void this.#undo(operation, request, result)
  }

  /** Gives back the references and handles of a result that the kernel did not take. */
  async #undo(operation: Operation, request: Request, result: unknown): Promise<void> {
    try {
      await operation.undo?.(this.#operations, result)
    } catch (error) {
      this.#log.warn({ err: error, operation: opcodeName(request.opcode) }, 'could not take back an answer')
    }
  }

  #remove(request: Request): void {
    this.#waiting.delete(request.unique)
    this.#interrupts.delete(request)
  }

  #refuse(request: Request, error: unknown): void {
    this.#remove(request)
    const name = errnoOf(error)
    // Any error without an errno becomes EIO: the log tells which it was.
    if (name === 'EIO') {
      const { nodeid, pid } = request
      this.#log.warn({ err: error, operation: opcodeName(request.opcode), nodeid, pid }, 'answered EIO')
    }
    this.#replyError(request, errnoNumber(name))
    request.over()
  }

  #replyError(request: Request, errno: number): void {
    if (request.isAnswered) return
    request.isAnswered = true
    this.#reply.unique = request.unique
    try {
      this.#reply.error(errno)
    } catch (error) {
      this.#log.error({ err: error, operation: opcodeName(request.opcode) }, 'the kernel refused an answer')
    }
  }

  #receiveOther(request: Request): void {
    switch (request.opcode) {
      case opcode.forget:
        this.#operations.forget(request.nodeid, request.u64(forgetIn.nlookup))
        break
      case opcode.batchForget:
        this.#forgetBatch(request)
        break
      case opcode.interrupt:
        this.#interrupt(request.u64(interruptIn.unique))
        break
      case opcode.init:
        this.#init(request)
        break
      case opcode.destroy:
        // The last request of a mount, and not always sent: cleaning up is done when the connection ends.
        this.#replyError(request, 0)
        break
      default:
        this.#replyError(request, errnoNumber(refusedWith.get(request.opcode) ?? 'ENOSYS'))
    }
  }

  #forgetBatch(request: Request): void {
    const count = request.u32(batchForgetIn.count)
    for (let index = 0; index < count; index++) {
      const at = batchForgetIn.sizeOf + index * forgetOne.sizeOf
      this.#operations.forget(request.u64(at + forgetOne.nodeid), request.u64(at + forgetOne.nlookup))
    }
  }

  /** An unknown request was answered before. */
  #interrupt(unique: number): void {
    const request = this.#waiting.get(unique)
    if (request !== undefined) this.#interrupts.add(request)
  }

  /**
   * Answers EINTR at once, before the filesystem reacts to the aborted signal: until it is answered, the caller hangs, even
   * after SIGKILL.
   */
  #giveUp(request: Request): void {
    this.#replyError(request, constants.errno.EINTR)
    request.abort()
  }

  #init(request: Request): void {
    const outcome = answerInit(request, this.#reply.body)
    this.#reply.unique = request.unique
    if (outcome === 'too-old') this.#replyError(request, constants.errno.EPROTO)
    else this.#reply.struct(initOut.sizeOf)
    if (outcome !== 'again') this.#setReady(outcome === 'agreed')
  }

  #answerAll(): void {
    for (const request of this.#waiting.values()) {
      this.#replyError(request, constants.errno.ECONNABORTED)
      request.abort()
    }
  }
}
