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
  /** True for a request that changes nothing; absent = it may. Asked while the request's bytes are there. */
  onlyLooks?(request: Request): boolean
  /** `call` hands the receive buffer to the filesystem until its answer. */
  readonly keepsBytes?: boolean
}

/** One table holds operations of every result. */
export function operation<R>(made: Operation<R>): Operation {
  return made
}

export function answerEmpty(reply: Reply): boolean {
  return reply.empty()
}

/** Of an operation that never changes anything. */
export const always = (): boolean => true
