// The one table from errors to errno names; every error has one. Used wherever an error is shown by name: at the doors, in the
// trace and `status`, in the report of a full disk, and for the refusals that the queue journals.

import { ApiError, InputError, isTooDeep, NetworkError } from '../api/errors.ts'
import { ErrnoError } from '../errno-error.ts'

/** Returns the errno name (`ENOENT`) that tells a program what happened; EIO for anything unknown. */
export function errnoOf(error: unknown): string {
  if (error instanceof ErrnoError) return error.code
  if (isTooDeep(error)) return 'ENAMETOOLONG'
  if (error instanceof ApiError) return errnoOfStatus(error.status)
  if (error instanceof InputError) return 'EINVAL'
  if (error instanceof NetworkError) return errnoOfNetwork(error)
  if (error instanceof Error) {
    if (error.name === 'AbortError') return 'EINTR'
    if (error.name === 'TimeoutError') return 'ETIMEDOUT'
    // Node's own system errors (ENOSPC from the spool) carry their name already.
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'SQLITE_FULL') return 'ENOSPC'
    if (typeof code === 'string' && /^E[A-Z0-9]+$/.test(code) && !code.startsWith('ERR')) return code
  }
  return 'EIO'
}

/** ETIMEDOUT, never ENOENT, if the service's state cannot be known now. */
function errnoOfNetwork({ kind }: NetworkError): string {
  return kind === 'cut' || kind === 'protocol' ? 'EIO' : 'ETIMEDOUT'
}

function errnoOfStatus(status: number): string {
  switch (status) {
    case 400:
      return 'EINVAL'
    case 401:
    case 403:
      return 'EACCES'
    case 404:
      return 'ENOENT'
    case 409:
      return 'EEXIST'
    case 413:
      return 'EFBIG'
    case 415:
      return 'EOPNOTSUPP'
    // Too busy, or away for a moment: its state cannot be known now.
    case 408:
    case 429:
    case 502:
    case 503:
    case 504:
      return 'ETIMEDOUT'
    case 507:
      return 'ENOSPC'
    default:
      return 'EIO'
  }
}
