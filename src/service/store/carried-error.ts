// Errors in messages between threads and processes, which preserve neither class nor code of an error: `carry` makes it plain
// data, and `revive` makes it a ServiceError, or an Error with its code, again.

import { ServiceError } from '../service-error.ts'
import type { CarriedError } from './writer-protocol.ts'

export function carry(error: unknown): CarriedError {
  if (!(error instanceof Error)) return { message: String(error), code: undefined, statusCode: undefined }
  const { code } = error as { code?: unknown }
  return {
    message: error.message,
    code: typeof code === 'string' ? code : undefined,
    statusCode: error instanceof ServiceError ? error.statusCode : undefined,
  }
}

export function revive({ message, code, statusCode }: CarriedError): Error {
  if (statusCode !== undefined) return new ServiceError(statusCode, message)
  return Object.assign(new Error(message), code === undefined ? {} : { code })
}
