import { expect, test } from 'vitest'
import { tagOf } from '../../../src/content/disk/segment-table.ts'
import { VersionCheck } from '../../../src/content/read/version-check.ts'

const answer = (totalSize: number | undefined, etag: string | undefined) => ({ totalSize, etag })

test.each([
  ['the same size and ETag', answer(10, '"a"'), true],
  ['no size and no ETag', answer(undefined, undefined), true],
  ['another size', answer(11, '"a"'), false],
  ['another ETag', answer(10, '"b"'), false],
  ['no ETag', answer(10, undefined), true],
])('after an answer with an ETag, one with %s: same version is %o', (_title, next, isSame) => {
  const check = new VersionCheck(10)
  expect(check.isSameAnswer(answer(10, '"a"'))).toBe(true)
  expect(check.isSameAnswer(next)).toBe(isSame)
})

test('a block from disk and an answer must agree, whichever came first', () => {
  const online = new VersionCheck(10)
  online.isSameAnswer(answer(10, '"a"'))
  expect([tagOf('"a"'), 0, tagOf('"b"')].map((tag) => online.isSameTag(tag))).toEqual([true, true, false])
  const offline = new VersionCheck(10)
  expect(offline.isSameTag(tagOf('"a"'))).toBe(true)
  expect(offline.isSameAnswer(answer(10, '"b"'))).toBe(false)
})
