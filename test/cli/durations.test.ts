import { expect, test } from 'vitest'
import { formatBytes } from '../../src/amounts.ts'
import { parseDurationMs, parseRate, parseSizeBytes, parseWaitMs } from '../../src/cli/durations.ts'

test('durations are read with their unit', () => {
  expect(['500ms', '30s', '10m', '2h', '0', '1.5s'].map(parseDurationMs)).toEqual([
    500, 30_000, 600_000, 7_200_000, 0, 1500,
  ])
  expect(parseWaitMs('forever')).toBe(Infinity)
  expect(parseWaitMs('0')).toBe(0)
})

test.each(['', '30', '-1s', 's', '1 s', '1d', '1e3s', 'forever'])('%j is no duration', (text) => {
  expect(() => parseDurationMs(text)).toThrow(/30s/)
})

test('sizes are read in powers of 1000 and of 1024', () => {
  expect(['0', '4096', '1KB', '1KiB', '100MB', '5GiB', '1.5 gib'].map(parseSizeBytes)).toEqual([
    0,
    4096,
    1000,
    1024,
    1e8,
    5 * 2 ** 30,
    1.5 * 2 ** 30,
  ])
})

test.each(['', 'GiB', '-1GB', '1 potato', '5G'])('%j is no size', (text) => {
  expect(() => parseSizeBytes(text)).toThrow(/5GiB/)
})

test('sizes are written for people', () => {
  expect([0, 1023, 1024, 1.5 * 2 ** 30].map(formatBytes)).toEqual([
    '0 bytes',
    '1023 bytes',
    '1.0 KiB',
    '1.5 GiB',
  ])
})

test('rates are read as people type them', () => {
  expect(['2M', '500k', '1.5MB/s', '4096', '1KiB/s', '0'].map(parseRate)).toEqual([
    2 * 2 ** 20,
    500 * 1024,
    1.5e6,
    4096,
    1024,
    0,
  ])
  expect(() => parseRate('fast')).toThrow(/2M/)
})
