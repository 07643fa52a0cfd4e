// Words of a result file for a failure: the service's own where it has spoken, else ours. One line.

import { ApiError } from '../api/errors.ts'
import { ErrnoError } from '../errno-error.ts'

export function failureWords(error: unknown): string {
  if (error instanceof ApiError) return error.errorMessage
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'AbortError') return 'interrupted before the service answered'
  // Its errno is for close, not for people.
  return error instanceof ErrnoError ? error.message.slice(error.code.length + 2) : error.message
}
