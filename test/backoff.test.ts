import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { doubledMs, doublingMs } from '../src/backoff.ts'

const limits = { firstMs: 100, longestMs: 1_000 }

test('a wait doubles from the first up to the longest, however often it was tried', () => {
  const waits = [1, 2, 3, 4, 5, 6, 5_000].map((attempts) => doubledMs(attempts, limits))
  expect(waits).toEqual([100, 200, 400, 800, 1_000, 1_000, 1_000])
})

test('half of it is by chance where many would come at once', () => {
  expect(doublingMs(3, limits, () => 0)).toBe(200)
  expect(doublingMs(3, limits, () => 0.5)).toBe(300)
  expect(doublingMs(3, limits, () => 1)).toBe(400)
})

test('nobody else doubles a wait', () => {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.m?[jt]s$/.test(name),
  )
  const doubling = sources.filter((name) =>
    /(?:pause|backoff|wait|delay)Ms \*=? 2\b|2 \*\* \(?(?:attempt|failure|tries)/i.test(
      readFileSync(join('src', name), 'utf8'),
    ),
  )
  expect(doubling).toEqual(['backoff.ts'])
})
