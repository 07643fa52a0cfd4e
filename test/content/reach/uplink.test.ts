// How late an answer may be for our own uploads' sake, and how many of these go at once.

import { expect, it } from 'vitest'
import { Uplink } from '../../../src/content/reach/uplink.ts'
import type { BytesContent } from '../../../src/api/types.ts'

let now = 0
const later = (ms: number): void => void (now += ms)
const chunkBytes = 64 * 1024

const content = (size: number): BytesContent => ({
  kind: 'bytes',
  size,
  async *open() {
    for (let left = size; left > 0; left -= chunkBytes) yield Buffer.alloc(Math.min(left, chunkBytes))
  },
})

interface Sending {
  answered(): Promise<void>
  cut(): Promise<void>
}

/** Resolves when the last byte was taken; the upload ends as it is told to. */
async function sending(uplink: Uplink, size: number): Promise<Sending> {
  const end = new AbortController()
  let sent: Promise<void> | undefined
  await new Promise<void>((taken) => {
    sent = uplink.carry(content(size), async (counted) => {
      for await (const _ of counted.open(end.signal));
      taken()
      await new Promise<void>((resolve, reject) => {
        end.signal.addEventListener('abort', () =>
          end.signal.reason === 'cut' ? reject(new Error('cut')) : resolve(),
        )
      })
    })
  })
  return {
    async answered() {
      end.abort('answered')
      await sent
    },
    async cut() {
      end.abort('cut')
      await sent?.catch(() => {})
    },
  }
}

it('counts every silence while nothing large is sent', async () => {
  const uplink = new Uplink(() => now)
  const asked = now
  const small = await sending(uplink, 10_000)
  later(4_000)
  expect(uplink.silentMs(asked)).toBe(4_000)
  await small.answered()
  expect(uplink.silentMs(asked)).toBe(4_000)
})

it('excuses a silence behind own bytes, for a minute at most, and counts from when they have arrived', async () => {
  const uplink = new Uplink(() => now)
  const upload = await sending(uplink, 4_000_000)
  const asked = now
  later(43_000)
  expect(uplink.silentMs(asked)).toBe(0)
  await upload.answered()
  later(2_000)
  expect(uplink.silentMs(asked), 'they have arrived').toBe(2_000)
  const lost = await sending(uplink, 4_000_000)
  const askedLater = now
  later(63_000)
  expect(uplink.silentMs(askedLater), 'nothing arrives').toBe(3_000)
  await lost.cut()
  expect(uplink.silentMs(askedLater), 'nothing is under way').toBe(63_000)
})

it('excuses little where so many bytes took a moment lately', async () => {
  const uplink = new Uplink(() => now)
  for (let i = 0; i < 20; i++) {
    const upload = await sending(uplink, 4_000_000)
    later(40)
    await upload.answered()
  }
  await sending(uplink, 4_000_000)
  const asked = now
  later(5_000)
  expect(uplink.silentMs(asked)).toBeGreaterThan(4_500)
})

it('knows a long upload that goes on by what cannot be held on its way', async () => {
  const uplink = new Uplink(() => now)
  await new Promise<void>((taken) => {
    void uplink.carry(content(400_000_000), async (counted) => {
      // 64 KiB in 10 ms.
      for await (const _ of counted.open(new AbortController().signal)) later(10)
      taken()
      await new Promise<void>(() => {})
    })
  })
  const asked = now
  later(10_000)
  expect(uplink.silentMs(asked), 'silent for longer than 8 MiB take').toBeGreaterThan(5_000)
})

it('lets fewer go at once while questions are late behind them, and all where the service is slow anyway', async () => {
  const uplink = new Uplink(() => now)
  uplink.answered(200)
  expect(uplink.atOnce(8)).toBe(8)
  const upload = await sending(uplink, 1_000_000)
  for (let i = 0; i < 4; i++) uplink.answered(4_400)
  expect(uplink.atOnce(8)).toBe(2)
  for (let i = 0; i < 12; i++) uplink.answered(300)
  expect(uplink.atOnce(8)).toBe(8)
  for (let i = 0; i < 4; i++) uplink.answered(4_400)
  await upload.answered()
  expect(uplink.atOnce(8), 'nothing is under way').toBe(8)
  const slow = new Uplink(() => now)
  for (let i = 0; i < 8; i++) slow.answered(4_000)
  await sending(slow, 1_000_000)
  expect(slow.atOnce(8)).toBe(8)
})
