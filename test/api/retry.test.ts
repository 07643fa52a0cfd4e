import { assert, integer, nat, property } from 'fast-check'
import { expect, test } from 'vitest'
import { parseContentRange } from '../../src/api/content-range.ts'
import { ApiError, NetworkError } from '../../src/api/errors.ts'
import { delayMsAfter, mayRepeat, retryAfterMsOf } from '../../src/api/retry.ts'

const call = { method: 'PUT', path: '/a' }

test.each([
  [new NetworkError(call, 'unreachable', ''), true, true],
  [new NetworkError(call, 'cut', ''), true, false],
  [new NetworkError(call, 'deadline', ''), false, false],
  [new NetworkError(call, 'protocol', ''), false, false],
  [new ApiError(call, 400, 'no'), false, false],
  [new ApiError(call, 401, 'no'), false, false],
  [new ApiError(call, 404, 'no'), false, false],
  [new ApiError(call, 408, 'no'), true, false],
  [new ApiError(call, 409, 'no'), false, false],
  [new ApiError(call, 429, 'no'), true, true],
  [new ApiError(call, 500, 'no'), true, false],
  [new ApiError(call, 501, 'no'), false, false],
  [new ApiError(call, 503, 'no'), true, false],
  [new Error('a bug'), false, false],
])('%s is repeated freely: %s, if not stored: %s', (error, freely, ifNotStored) => {
  expect(mayRepeat(error, 'freely')).toBe(freely)
  expect(mayRepeat(error, 'if-not-stored')).toBe(ifNotStored)
})

test('delays double up to a bound, and are never the same for all clients', () => {
  const error = new ApiError(call, 503, 'no')
  const longest = [1, 2, 3, 10].map((attempt) => delayMsAfter(attempt, error, () => 1))
  const shortest = [1, 2, 3, 10].map((attempt) => delayMsAfter(attempt, error, () => 0))
  expect(longest).toEqual([200, 400, 800, 5000])
  expect(shortest).toEqual([100, 200, 400, 2500])
  expect(delayMsAfter(1, new ApiError(call, 429, 'no', 7000), Math.random)).toBe(7000)
})

test('Retry-After is seconds or a date', () => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  expect(retryAfterMsOf('3', now)).toBe(3000)
  expect(retryAfterMsOf('Thu, 01 Jan 2026 00:00:05 GMT', now)).toBe(5000)
  expect(retryAfterMsOf('Wed, 31 Dec 2025 00:00:00 GMT', now)).toBe(0)
  expect(retryAfterMsOf('soon', now)).toBeUndefined()
  expect(retryAfterMsOf(undefined, now)).toBeUndefined()
})

test('Content-Range is read back as it was written', () => {
  assert(
    property(nat(), integer({ min: 1, max: 1e6 }), nat(), (start, length, more) => {
      const end = start + length
      expect(parseContentRange(`bytes ${start}-${end - 1}/${end + more}`)).toEqual({
        start,
        end,
        totalSize: end + more,
      })
      expect(parseContentRange(`bytes ${start}-${end - 1}/*`)).toEqual({ start, end, totalSize: undefined })
    }),
  )
  expect(parseContentRange('bytes */7')).toEqual({ start: 0, end: 0, totalSize: 7 })
  for (const wrong of [undefined, '', 'bytes 5-4/10', 'lines 0-1/2', 'bytes 0-1', 'bytes 0-1,3-4/9']) {
    expect(parseContentRange(wrong)).toBeUndefined()
  }
})
