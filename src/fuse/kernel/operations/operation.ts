// The shape of one opcode's handler: call the filesystem, answer the kernel, and take back what the kernel never learned.

import type { MaybePromise, Operations } from '../../../fs/operations.ts'
import type { Reply } from '../reply.ts'
import type { Request } from '../request.ts'

export interface Operation<R = unknown> {
  /** Decodes the request and asks the filesystem. Reads all it needs of the request before it returns. */
  call(operations: Operations, request: Request): MaybePromise<R>
  /** False when the kernel did not take the answer. */
  answer(reply: Reply, result: R): boolean
  /** Gives back references and handles of a result that never reached the kernel. */
  undo?(operations: Operations, result: R): MaybePromise<void>
  /**
   * True for a request that changes nothing: once interrupted, it is given up without waiting for the service. Absent: it may change
   * something. Asked while the request's bytes are there.
   */
  isReadOnly?(request: Request): boolean
  /** The receive buffer is in use until the answer, so it is not reused before. */
  readonly keepsBuffer?: boolean
}

/** Hides the type of the result, so that one table holds all handlers. */
export function operation<R>(made: Operation<R>): Operation {
  return made
}

export function answerEmpty(reply: Reply): boolean {
  return reply.empty()
}

/** `isReadOnly` of an opcode that never changes anything. */
export const readOnly = (): boolean => true
