// The handler of one opcode: it calls the filesystem, answers the kernel, and undoes a result the kernel never got.

import type { MaybePromise, Operations } from '../../../fs/operations.ts'
import type { Reply } from '../reply.ts'
import type { Request } from '../request.ts'

export interface Operation<R = unknown> {
  /** Decodes the request and calls the filesystem. Reads all it needs of the request before it returns. */
  call(operations: Operations, request: Request): MaybePromise<R>
  /** Sends the answer. False when the kernel did not take it. */
  answer(reply: Reply, result: R): boolean
  /** Gives back references and handles of a result that never reached the kernel. */
  undo?(operations: Operations, result: R): MaybePromise<void>
  /**
   * True for a request that changes nothing: once interrupted, it is given up when the service is slow. Absent: false. Called
   * right after `call`, while the request's fields can be read.
   */
  isReadOnly?(request: Request): boolean
  /** True if the receive buffer is in use until the answer, and must not be reused before. */
  readonly keepsBuffer?: boolean
}

/** Hides the type of the result, so that one table holds all handlers. */
export function operation<R>(handler: Operation<R>): Operation {
  return handler
}

export function answerEmpty(reply: Reply): boolean {
  return reply.empty()
}

/** `isReadOnly` of an opcode that never changes anything. */
export const readOnly = (): boolean => true
