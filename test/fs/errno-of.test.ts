// The one table from errors to errnos.

import { describe, expect, it } from 'vitest'
import { ApiError, InputError, NetworkError } from '../../src/api/errors.ts'
import { ErrnoError } from '../../src/errno-error.ts'
import { errnoOf } from '../../src/fs/errno-of.ts'

const call = { method: 'GET', path: '/a' }
const answered = (status: number): ApiError => new ApiError(call, status, 'no')

const table: [string, unknown, string][] = [
  ['what fs decided itself', new ErrnoError('ENOTEMPTY', 'x'), 'ENOTEMPTY'],
  ['400', answered(400), 'EINVAL'],
  ['401', answered(401), 'EACCES'],
  ['403', answered(403), 'EACCES'],
  ['404', answered(404), 'ENOENT'],
  ['409', answered(409), 'EEXIST'],
  ['413', answered(413), 'EFBIG'],
  ['429', answered(429), 'ETIMEDOUT'],
  ['503', answered(503), 'ETIMEDOUT'],
  ['500', answered(500), 'EIO'],
  ['507', answered(507), 'ENOSPC'],
  ['no connection', new NetworkError(call, 'unreachable', 'refused'), 'ETIMEDOUT'],
  ['a service known to be away', new NetworkError(call, 'away', 'refused'), 'ETIMEDOUT'],
  ['a deadline', new NetworkError(call, 'deadline', 'late'), 'ETIMEDOUT'],
  ['a path no request may hold', new InputError('..'), 'EINVAL'],
  ['an abort', new DOMException('stop', 'AbortError'), 'EINTR'],
  ['a limit of time', new DOMException('late', 'TimeoutError'), 'ETIMEDOUT'],
  ["Node's own", Object.assign(new Error('full'), { code: 'ENOSPC' }), 'ENOSPC'],
  ["Node's codes that are no errno", Object.assign(new Error('x'), { code: 'ERR_INVALID_ARG_TYPE' }), 'EIO'],
  ['anything else', 'a string', 'EIO'],
]

describe('errnoOf', () => {
  for (const [title, error, errno] of table)
    it(`${title} is ${errno}`, () => expect(errnoOf(error)).toBe(errno))
})
