// PostgreSQL's refusals, told as the service's own. Codes: PostgreSQL's documentation, appendix A.

import { diskFull } from '../../disk-full.ts'
import { ServiceError } from '../../service-error.ts'
import { codeOf } from '../connection.ts'

/** Shutting down, starting up, no connection left, a statement or a lock that took too long. */
const passing = new Set(['53200', '53300', '55P03', '57014', '57P01', '57P02', '57P03', '57P05', '25P03'])

/** An error as the service answers it; what the store itself understands, like a unique violation, stays as it is. */
export function refusalOf(error: unknown): unknown {
  const code = codeOf(error)
  if (code === '53100') return diskFull(error)
  // PostgreSQL keeps every text but NUL, and no text in an index that is longer than a third of a page.
  if (code === '22021') return new ServiceError(400, 'a text contains NUL', { cause: error })
  if (code === '54000') return new ServiceError(400, 'a name is too long', { cause: error })
  if (passing.has(code) || isOfConnection(error))
    return new ServiceError(503, 'the database does not answer: try again', { cause: error })
  return error
}

/** The connection is of no use any more, or never was. */
export function isOfConnection(error: unknown): boolean {
  const code = codeOf(error)
  if (code.startsWith('08') || code.startsWith('57P')) return true
  if (/^(?:ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOENT|EAI_AGAIN|ENOTFOUND)/.test(code)) return true
  // Errors that `pg` finds out itself have no code.
  return (
    error instanceof Error &&
    /connection terminated|connection ended|client has encountered a connection error|not queryable|timeout exceeded when trying to connect/i.test(
      error.message,
    )
  )
}
