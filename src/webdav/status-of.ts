// HTTP status and sentence of any error: a table of errnos, and a default.

import { ErrnoError } from '../errno-error.ts'
import { errnoOf } from '../fs/errno-of.ts'
import { Refused } from './refused.ts'

export interface ErrorAnswer {
  readonly status: number
  readonly sentence: string
}

const table: Readonly<Record<string, ErrorAnswer>> = {
  ENOENT: { status: 404, sentence: 'nothing is here' },
  ENOTDIR: { status: 409, sentence: 'a document is where a folder should be' },
  EISDIR: { status: 405, sentence: 'this is a folder' },
  EEXIST: { status: 412, sentence: 'there is something by that name already' },
  ENOTEMPTY: { status: 409, sentence: 'the folder is not empty' },
  EACCES: { status: 403, sentence: 'the service does not allow it' },
  EPERM: { status: 403, sentence: 'this is not possible on this drive' },
  EROFS: { status: 403, sentence: 'the drive is read-only' },
  EOPNOTSUPP: { status: 415, sentence: 'the service takes no documents of this type' },
  EFBIG: { status: 413, sentence: 'the document is too large' },
  ENOSPC: { status: 507, sentence: 'there is no room left' },
  EDQUOT: { status: 507, sentence: 'there is no room left' },
  EINVAL: { status: 400, sentence: 'the service does not take this name' },
  EILSEQ: { status: 400, sentence: 'the name is not valid UTF-8' },
  ENAMETOOLONG: { status: 400, sentence: 'the name is too long' },
  EBUSY: { status: 503, sentence: 'changes to it are still on their way; try again' },
  ETIMEDOUT: { status: 503, sentence: 'the service cannot be reached, and this was never seen before' },
  EINTR: { status: 503, sentence: 'the request was given up' },
  ESTALE: { status: 503, sentence: 'the document was changed meanwhile; try again' },
}

const unknown: ErrorAnswer = { status: 500, sentence: 'docmount could not do it; its log says why' }

/** Messages of other errors are not passed on, since they may contain an address. */
export function statusOf(error: unknown): ErrorAnswer {
  if (error instanceof Refused) return { status: error.status, sentence: error.message }
  const errno = errnoOf(error)
  const known = table[errno] ?? unknown
  if (!(error instanceof ErrnoError)) return known
  return { status: known.status, sentence: error.message.slice(error.code.length + 2) }
}
