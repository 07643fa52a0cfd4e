// Errors of PostgreSQL as errors of the service. Codes: PostgreSQL's documentation, appendix A.

import { diskFull } from '../../disk-full.ts'
import { ServiceError } from '../../service-error.ts'
import { codeOf } from '../connection.ts'

/** Temporary: too little memory, too many connections, a timeout (statement, lock, idle connection), shutdown and startup. */
const temporary = new Set(['53200', '53300', '55P03', '57014', '57P01', '57P02', '57P03', '57P05', '25P03'])

/** Returns the ServiceError for an error of PostgreSQL. Errors that the store handles (unique violations) stay unchanged. */
export function refusalOf(error: unknown): unknown {
  const code = codeOf(error)
  if (code === '53100') return diskFull(error)
  // PostgreSQL stores no NUL, and indexes no text that is longer than a third of a page.
  if (code === '22021') return new ServiceError(400, 'a text contains NUL', { cause: error })
  if (code === '54000') return new ServiceError(400, 'a name is too long', { cause: error })
  if (temporary.has(code) || isOfConnection(error))
    return new ServiceError(503, 'the database does not answer: try again', { cause: error })
  return error
}

/** True if the connection is broken, or could not be made. */
export function isOfConnection(error: unknown): boolean {
  const code = codeOf(error)
  if (code.startsWith('08') || code.startsWith('57P')) return true
  if (/^(?:ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOENT|EAI_AGAIN|ENOTFOUND)/.test(code)) return true
  // Errors that `pg` itself raises have no code.
  return (
    error instanceof Error &&
    /connection terminated|connection ended|client has encountered a connection error|not queryable|timeout exceeded when trying to connect/i.test(
      error.message,
    )
  )
}
