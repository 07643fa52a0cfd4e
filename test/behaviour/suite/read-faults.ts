// Listing and reading while the service misbehaves.

import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'

import type { Fault, FaultTarget } from '../../support/faults/fault.ts'
import { patternedBytes } from '../../support/bytes.ts'
import type { DocmountDoor } from '../../support/docmount-door.ts'
import { waitUntil } from '../../support/wait-until.ts'
import type { Topic } from '../topic.ts'

const large = patternedBytes(3_000_001, 'read faults')

/** Switches a fault on for as long as `body` takes; answers how many requests it hit. */
export async function withFault(
  door: DocmountDoor,
  fault: Fault,
  target: FaultTarget,
  body: () => Promise<void>,
): Promise<number> {
  const { faults } = door.testService.service
  const before = faults.hits
  const clear = faults.inject(fault, target)
  try {
    await body()
  } finally {
    clear()
  }
  return faults.hits - before
}

export const readFaults: Topic<DocmountDoor> = (it) => {
  it(
    'a presigned URL that expires while a document is read is renewed within the read',
    { 'a.pdf': large },
    async ({ door, at }) => {
      const file = await door.open(at('a.pdf'), 'r')
      expect((await file.read(1_000, 0)).equals(large.subarray(0, 1_000))).toBe(true)
      const target = { endpoint: 'download', path: at('a.pdf'), times: 1 } as const
      const hits = await withFault(door, { kind: 'expired-url' }, target, async () => {
        expect((await file.read(2_000_000, 1_000_000)).equals(large.subarray(1_000_000, 3_000_000))).toBe(
          true,
        )
      })
      expect(hits).toBe(1)
      await file.close()
    },
  )

  const harmless: readonly (readonly [string, Fault, number])[] = [
    ['a download cut in the middle is read on', { kind: 'cut-response', afterBytes: 20_000 }, 1],
    ['a download answered with 500 is asked for again', { kind: 'status', status: 500 }, 1],
    ['a download answered with 429 is asked for again', { kind: 'status', status: 429, retryAfter: 1 }, 1],
    ['a service that ignores Range is read all the same', { kind: 'ignore-range' }, 100],
    ['a slow first byte is waited for', { kind: 'latency', ms: 300 }, 3],
  ]
  for (const [title, fault, times] of harmless) {
    it(title, { 'a.pdf': large }, async ({ door, folder, at }) => {
      await door.readdir(folder)
      const target = { endpoint: 'download', path: at('a.pdf'), times } as const
      const hits = await withFault(door, fault, target, async () => {
        expect((await door.readFile(at('a.pdf'))).equals(large)).toBe(true)
      })
      expect(hits).toBeGreaterThan(0)
    })
  }

  const page = '<html>log in first</html>'
  for (const [title, body, isSized] of [
    ['a page', page, true],
    ['a page that does not tell its size', page, false],
    ['a long page that does not tell its size', page.repeat(20_000), false],
    ['a page of megabytes that does not tell its size', page.repeat(100_000), false],
  ] as const) {
    it(
      `${title} in place of a download is no part of the document, nor of what is kept of it`,
      { 'a.pdf': large },
      async ({ door, folder, at }) => {
        await door.readdir(folder)
        const target = { endpoint: 'download', path: at('a.pdf'), times: 1 } as const
        const hits = await withFault(door, { kind: 'page', body, isSized }, target, async () => {
          const read = await door.readFile(at('a.pdf')).catch((error: NodeJS.ErrnoException) => error.code)
          // Told its size, the page is taken for another version.
          if (!isSized || read !== 'ESTALE') expect(large.equals(read as Buffer)).toBe(true)
        })
        expect(hits).toBe(1)
        expect((await door.readFile(at('a.pdf'))).equals(large)).toBe(true)
      },
    )
  }

  it(
    'a page of megabytes in place of a download is no part of what a change in place sends',
    { 'a.pdf': large },
    async ({ door, folder, at }) => {
      await door.readdir(folder)
      const fault = { kind: 'page', body: page.repeat(100_000), isSized: false } as const
      const target = { endpoint: 'download', path: at('a.pdf'), times: 1 } as const
      const hits = await withFault(door, fault, target, () => door.appendFile(at('a.pdf'), 'more'))
      expect(hits).toBe(1)
      await door.behind.waitFor(folder, { 'a.pdf': Buffer.concat([large, Buffer.from('more')]) })
    },
  )

  it('a listing answered with 500 is asked for again', { 'inner/a.txt': 'a' }, async ({ door, at }) => {
    const target = { endpoint: 'files', method: 'GET', path: at('inner'), times: 1 } as const
    const hits = await withFault(door, { kind: 'status', status: 500 }, target, async () => {
      expect(await door.readdir(at('inner'))).toEqual(['a.txt'])
    })
    expect(hits).toBe(1)
  })

  it(
    'a listing that cannot be had is an error, never an empty folder or a missing one',
    { 'inner/a.txt': 'a' },
    async ({ door, at }) => {
      const target = { endpoint: 'files', method: 'GET', path: at('inner') } as const
      await withFault(door, { kind: 'status', status: 500 }, target, async () => {
        // A listing that was fetched ahead is shown to the end of its life.
        const error = await waitUntil('the listing to fail', () =>
          door.readdir(at('inner')).then(
            (names) => {
              expect(names).toEqual(['a.txt'])
              return undefined
            },
            (reason: NodeJS.ErrnoException) => reason,
          ),
        )
        expect(['EIO', 'ETIMEDOUT']).toContain(error.code)
      })
      expect(await door.readdir(at('inner'))).toEqual(['a.txt'])
    },
  )

  it(
    'records without size, type, time and URL are listed and read',
    { 'inner/a.pdf': large },
    async ({ door, at }) => {
      const fields = ['size', 'mimetype', 'modified_at'] as const
      const hits = await withFault(
        door,
        { kind: 'omit-fields', fields },
        { endpoint: 'files', path: at('inner') },
        async () => {
          expect(await door.readdir(at('inner'))).toEqual(['a.pdf'])
          expect((await door.readFile(at('inner/a.pdf'))).equals(large)).toBe(true)
        },
      )
      expect(hits).toBeGreaterThan(0)
    },
  )

  it(
    'a listing without URLs is read through the document itself',
    { 'inner/a.pdf': large },
    async ({ door, at }) => {
      const hits = await withFault(
        door,
        { kind: 'omit-fields', fields: ['url'] },
        { endpoint: 'files', path: at('inner') },
        async () => {
          expect((await door.readFile(at('inner/a.pdf'))).equals(large)).toBe(true)
        },
      )
      expect(hits).toBeGreaterThan(0)
    },
  )

  it(
    'odd entries of a listing cost themselves and nothing else',
    { 'inner/a.txt': 'a', 'inner/b/c.txt': 'c' },
    async ({ door, at }) => {
      const entries = [
        null,
        'text',
        { name: 'no kind' },
        { ftype: 'device', name: 'unknown' },
        { ftype: 'file' },
        { ftype: 'file', name: '' },
        { ftype: 'file', name: '..' },
        { ftype: 'folder', name: 'with/slash' },
        { ftype: 'file', name: 'with\0nul' },
        { ftype: 'file', name: 'x'.repeat(300) },
        { ftype: 'file', name: 'odd size.txt', size: -5, url: 7, modified_at: [] },
      ]
      const hits = await withFault(
        door,
        { kind: 'odd-entries', entries },
        { endpoint: 'files', path: at('inner') },
        async () => {
          expect((await door.readdir(at('inner'))).sort()).toEqual(['a.txt', 'b', 'odd size.txt'])
          expect((await door.readFile(at('inner/a.txt'))).toString()).toBe('a')
          expect(await door.readdir(at('inner/b'))).toEqual(['c.txt'])
          await door.writeFile(at('inner/new.txt'), 'new')
          expect((await door.status()).oddEntries).toEqual({ leftOut: 10, repaired: 1 })
        },
      )
      expect(hits).toBeGreaterThan(0)
      await waitUntil('the folder to be well again', async () => {
        await door.readdir(at('inner'))
        return (await door.status()).oddEntries.leftOut === 0
      })
    },
  )

  it(
    'a listing with neither sizes nor URLs: each size is asked for before anybody is told one',
    { 'inner/a.pdf': large, 'inner/b.txt': 'b', 'inner/empty.txt': '' },
    async ({ door, at }) => {
      const hits = await withFault(
        door,
        { kind: 'omit-fields', fields: ['size', 'url'] },
        { endpoint: 'files', path: at('inner') },
        async () => {
          expect((await door.readdir(at('inner'))).sort()).toEqual(['a.pdf', 'b.txt', 'empty.txt'])
          expect((await door.stat(at('inner/a.pdf'))).size).toBe(large.length)
          expect((await door.stat(at('inner/b.txt'))).size).toBe(1)
          expect((await door.stat(at('inner/empty.txt'))).size).toBe(0)
          expect((await door.readFile(at('inner/a.pdf'))).equals(large)).toBe(true)
          await sleep(1_500)
          expect((await door.stat(at('inner/a.pdf'))).size).toBe(large.length)
          expect((await door.readFile(at('inner/b.txt'))).toString()).toBe('b')
          await door.testService.other.put(at('inner/b.txt'), 'longer now')
          await waitUntil('the new size', async () => (await door.stat(at('inner/b.txt'))).size === 10)
          expect((await door.readFile(at('inner/b.txt'))).toString()).toBe('longer now')
        },
      )
      expect(hits).toBeGreaterThan(0)
    },
  )

  it('a save answered with a bare 201 shows its size, and is read', async ({ door, folder, at }) => {
    const fields = ['size', 'url', 'modified_at', 'mimetype'] as const
    await withFault(door, { kind: 'omit-fields', fields }, { endpoint: 'files', method: 'PUT' }, async () => {
      await door.writeFile(at('a.pdf'), large)
      expect((await door.stat(at('a.pdf'))).size).toBe(large.length)
      expect((await door.readFile(at('a.pdf'))).equals(large)).toBe(true)
      await door.writeFile(at('a.pdf'), 'again')
      expect((await door.readFile(at('a.pdf'))).toString()).toBe('again')
    })
    await sleep(1_500)
    expect((await door.readFile(at('a.pdf'))).toString()).toBe('again')
    expect(await door.readdir(folder)).toEqual(['a.pdf'])
  })
}
