// The service is not there.

import { expect } from 'vitest'

import { patternedBytes } from '../../support/bytes.ts'
import type { DocmountDoor } from '../../support/docmount-door.ts'
import { waitUntil } from '../../support/wait-until.ts'
import type { Topic } from '../topic.ts'

const bytes = patternedBytes(600_000, 'service down')

async function withoutService(door: DocmountDoor, body: () => Promise<void>): Promise<void> {
  await door.testService.stop()
  try {
    await body()
  } finally {
    await door.testService.start()
  }
}

export const serviceDown: Topic<DocmountDoor> = (it) => {
  it('what was read before is read without the service', { 'a.pdf': bytes }, async ({ door, at }) => {
    const file = await door.open(at('a.pdf'), 'r')
    expect((await file.read(bytes.length, 0)).equals(bytes)).toBe(true)
    await withoutService(door, async () => {
      expect((await file.read(bytes.length, 0)).equals(bytes)).toBe(true)
    })
    await file.close()
  })

  it(
    'what was never read is ETIMEDOUT, and is read when the service is back',
    { 'a.pdf': bytes },
    async ({ door, folder, at }) => {
      await door.readdir(folder)
      const file = await door.open(at('a.pdf'), 'r')
      await withoutService(door, async () => {
        const error = await file.read(1_000, 0).then(
          () => undefined,
          (reason: NodeJS.ErrnoException) => reason,
        )
        expect(error?.code).toBe('ETIMEDOUT')
      })
      await file.close()
      await waitUntil('the content', async () =>
        (await door.readFile(at('a.pdf')).catch(() => Buffer.alloc(0))).equals(bytes),
      )
    },
  )

  it(
    'a save without the service is kept here and sent when it is back',
    { 'a.pdf': 'old' },
    async ({ door, folder, at }) => {
      await door.readdir(folder)
      await withoutService(door, async () => {
        const file = await door.open(at('a.pdf'), 'w')
        await file.write(bytes, 0)
        await file.close()
        expect(await door.unsent()).toBe(1)
      })
      await door.behind.waitFor(folder, { 'a.pdf': bytes })
      await waitUntil('nothing to be unsent', async () => (await door.unsent()) === 0)
      expect((await door.readFile(at('a.pdf'))).equals(bytes)).toBe(true)
    },
  )

  it('a file being written goes on being read and written', async ({ door, folder, at }) => {
    const file = await door.open(at('a.txt'), 'w+')
    await file.write('before ', 0)
    await withoutService(door, async () => {
      await file.write('during ', 7)
      expect((await file.read(20, 0)).toString()).toBe('before during ')
    })
    await file.write('after', 14)
    await file.close()
    await door.behind.waitFor(folder, { 'a.txt': 'before during after' })
  })
}
