// The message for a failure in a result file, in one line: that of the service if it answered, else of our own error.

import { ApiError } from '../api/errors.ts'
import { ErrnoError } from '../errno-error.ts'

export function failureWords(error: unknown): string {
  if (error instanceof ApiError) return error.errorMessage
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'AbortError') return 'interrupted before the service answered'
  // Without the errno, which is for close and not for people.
  return error instanceof ErrnoError ? error.message.slice(error.code.length + 2) : error.message
}
