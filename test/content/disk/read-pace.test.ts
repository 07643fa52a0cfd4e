// Which thread reads the disk: the one that serves everybody, while it is not held up.

import { expect, test } from 'vitest'
import { ReadPace } from '../../../src/content/disk/read-pace.ts'

/** Reads one after another as long as they are made on this thread; answers how many were. */
function readsHere(pace: ReadPace, takeMs: readonly number[]): number {
  let now = 0
  let here = 0
  for (const ms of takeMs) {
    if (pace.isQuick(now)) {
      here++
      pace.took(now, now + ms)
    }
    now += ms
  }
  return here
}

const repeated = (count: number, ...ms: number[]): number[] => Array.from({ length: count }, () => ms).flat()

test('a disk that has its bytes at hand is read on this thread', () => {
  expect(readsHere(new ReadPace(), repeated(1000, 0.1))).toBe(1000)
})

test('one read in eight that is late, however late, is the processor and not the disk', () => {
  const reads = repeated(200, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 50)
  expect(readsHere(new ReadPace(), reads)).toBe(reads.length)
})

test('a disk whose head has to move is read on this thread for less than a twentieth of the time', () => {
  expect(readsHere(new ReadPace(), repeated(1000, 10))).toBeLessThan(50)
})

test('a disk that was slow for a while is tried again', () => {
  const pace = new ReadPace()
  for (let at = 0; at < 4; at++) pace.took(at * 10, at * 10 + 10)
  expect([39, 40, 1039, 1040].map((ms) => pace.isQuick(ms))).toEqual([false, false, false, true])
})
