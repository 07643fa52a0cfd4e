// Turns to use the network: who comes before whom.

import { realWorld } from '../../../src/world/world.ts'
import { expect, test } from 'vitest'
import { DownloadQueue } from '../../../src/content/read/download-queue.ts'
import { waitUntil } from '../../support/wait-until.ts'

test.each(['foreground', 'read-ahead', 'prefetch'] as const)(
  'what nobody reads begins when no download of urgency %s is under way or waits',
  async (urgency) => {
    const queue = new DownloadQueue(realWorld().clock)
    const done: string[] = []
    let finish: () => void = () => {}
    const readers = Array.from({ length: 20 }, (_, at) =>
      queue.run(urgency, async () => {
        if (at === 0) await new Promise<void>((resolve) => void (finish = resolve))
        done.push('reader')
      }),
    )
    expect(queue.isBusy).toBe(true)
    const quiet = queue.runQuietly(async () => void done.push('quiet'))
    await waitUntil('the others to be done', () => done.length === 19)
    finish()
    await Promise.all([...readers, quiet])
    expect(done).toEqual([...Array.from({ length: 20 }, () => 'reader'), 'quiet'])
    expect(queue.isBusy).toBe(false)
  },
)

test('what nobody reads hears in the middle of it that a reader has come', async () => {
  const queue = new DownloadQueue(realWorld().clock)
  const steps: string[] = []
  let reading: Promise<void> | undefined
  await queue.runQuietly(async () => {
    steps.push('begun')
    reading = queue.run('foreground', async () => void steps.push('read'))
    expect(queue.isBusy).toBe(true)
    await queue.quiet()
    steps.push('went on')
  })
  await reading
  expect(steps).toEqual(['begun', 'read', 'went on'])
})
