// Errors on their way between threads: a message keeps no class and no code.

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

export function arrived({ message, code, statusCode }: CarriedError): Error {
  if (statusCode !== undefined) return new ServiceError(statusCode, message)
  return Object.assign(new Error(message), code === undefined ? {} : { code })
}
