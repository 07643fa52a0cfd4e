// Errors of a full disk, and the response to them.

import { ServiceError } from './service-error.ts'

const codes: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'SQLITE_FULL'])

export function isDiskFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && codes.has(error.code)
}

export function diskFull(cause?: unknown): ServiceError {
  return new ServiceError(507, 'the disk of the service is full: delete documents to make room', { cause })
}
