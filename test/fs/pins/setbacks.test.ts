// Documents that could not be had.

import { expect, test } from 'vitest'
import { Setbacks } from '../../../src/fs/pins/setbacks.ts'
import type { FoundDocument } from '../../../src/fs/pins/survey.ts'

function documentOf(fingerprint: string): FoundDocument {
  const path = '/a.pdf'
  return { path, version: { path, fingerprint, size: 1 }, record: undefined, askedAt: 0, bytes: 1 }
}

test('what fails is tried later each time, five minutes at most', () => {
  let now = 0
  const setbacks = new Setbacks(() => now)
  const pauses: number[] = []
  for (let round = 0; round < 12; round++) {
    expect(setbacks.against(documentOf('1'))).toBeUndefined()
    const pauseMs = setbacks.failed(documentOf('1'), 'no')
    expect(setbacks.against(documentOf('1'))).toEqual({ problem: 'no', forMs: pauseMs })
    pauses.push(pauseMs)
    now += pauseMs
  }
  expect(pauses.slice(0, 4)).toEqual([2_000, 4_000, 8_000, 16_000])
  expect(pauses.at(-1)).toBe(300_000)
})

test('another version, a success and a wish try at once', () => {
  const setbacks = new Setbacks(() => 0)
  setbacks.failed(documentOf('1'), 'no')
  expect(setbacks.against(documentOf('2'))).toBeUndefined()
  setbacks.succeeded(documentOf('1'))
  expect(setbacks.against(documentOf('1'))).toBeUndefined()
  setbacks.failed(documentOf('1'), 'no')
  setbacks.clear()
  expect(setbacks.against(documentOf('1'))).toBeUndefined()
})
