import { sleep } from '../../src/world/clock.ts'
import { realWorld } from '../../src/world/world.ts'
import { expect, test } from 'vitest'
import { Bandwidth } from '../../src/api/bandwidth.ts'

/** A clock that only waiting moves. */
function limited(bytesPerSecond: number): { bandwidth: Bandwidth; clock: { ms: number } } {
  const clock = { ms: 0 }
  const bandwidth = new Bandwidth({
    bytesPerSecond,
    now: () => clock.ms,
    wait: async (ms) => void (clock.ms += ms),
  })
  return { bandwidth, clock }
}

async function* chunksOf(...sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  for (const size of sizes) yield Buffer.alloc(size, size % 251)
}

const signal = new AbortController().signal

test('what passes takes its time, and is what came in', async () => {
  const { bandwidth, clock } = limited(1000)
  const passed: Uint8Array[] = []
  for await (const piece of bandwidth.pace(chunksOf(700, 1, 300, 1000), signal)) passed.push(piece)
  const whole: Uint8Array[] = []
  for await (const chunk of chunksOf(700, 1, 300, 1000)) whole.push(chunk)
  expect(Buffer.concat(passed)).toEqual(Buffer.concat(whole))
  // The first piece does not wait, so the last one's own time is left out.
  expect(clock.ms).toBeGreaterThan(1900)
  expect(clock.ms).toBeLessThanOrEqual(2001)
})

test('all who share it have the limit together, and each its turn', async () => {
  const { bandwidth, clock } = limited(1600)
  const streams = [1, 2, 3].map(() => bandwidth.pace(chunksOf(1600), signal))
  const arrived: number[] = []
  await Promise.all(
    streams.map(async (stream, who) => {
      for await (const piece of stream) if (piece.length > 0) arrived.push(who)
    }),
  )
  expect(clock.ms).toBeGreaterThanOrEqual(2900)
  expect(new Set(arrived.slice(0, 3)).size).toBe(3)
})

test('a second without anybody is not saved up', async () => {
  const { bandwidth, clock } = limited(1000)
  clock.ms = 60_000
  for await (const piece of bandwidth.pace(chunksOf(2000), signal)) expect(piece.length).toBeLessThan(100)
  expect(clock.ms).toBeGreaterThanOrEqual(61_900)
})

test('waiting ends when the call does', async () => {
  const { clock } = realWorld()
  const bandwidth = new Bandwidth({
    bytesPerSecond: 1,
    now: clock.monotonic,
    wait: (ms, signal) => sleep(clock, ms, { signal }),
  })
  const ended = new AbortController()
  const chunks = bandwidth.pace(chunksOf(2), ended.signal)
  await chunks.next()
  const next = chunks.next()
  ended.abort()
  await expect(next).rejects.toThrow(/abort/i)
})

test('another limit holds at once, and so does none', async () => {
  const { bandwidth, clock } = limited(1000)
  const before: number[] = []
  for await (const { length } of bandwidth.pace(chunksOf(1000, 4000, 4000), signal)) {
    before.push(length)
    const passed = before.reduce((sum, bytes) => sum + bytes, 0)
    if (passed === 1000) bandwidth.limit(2000)
    if (passed === 5000) bandwidth.limit(0)
  }
  // A second for the first 1000 bytes, two for the next 4000; the first piece at each rate does not wait.
  expect(clock.ms).toBeGreaterThan(2800)
  expect(clock.ms).toBeLessThanOrEqual(3000)
  expect(before.at(-1)).toBe(4000)
  expect(bandwidth.isLimited).toBe(false)
})
