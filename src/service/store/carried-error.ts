// Errors in messages between threads and processes: a message preserves neither the class of an error nor its code.

import { ServiceError } from '../service-error.ts'
import type { CarriedError } from './writer-protocol.ts'

/** Makes an error part of a message. */
export function carry(error: unknown): CarriedError {
  if (!(error instanceof Error)) return { message: String(error), code: undefined, statusCode: undefined }
  const { code } = error as { code?: unknown }
  return {
    message: error.message,
    code: typeof code === 'string' ? code : undefined,
    statusCode: error instanceof ServiceError ? error.statusCode : undefined,
  }
}

/** Makes the error of a message an Error again: a ServiceError, or a plain one with the `code`. */
export function arrived({ message, code, statusCode }: CarriedError): Error {
  if (statusCode !== undefined) return new ServiceError(statusCode, message)
  return Object.assign(new Error(message), code === undefined ? {} : { code })
}
