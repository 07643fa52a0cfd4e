// Saving, renaming and deleting while the service misbehaves: nothing is lost, nothing is doubled.

import { expect } from 'vitest'

import type { Fault, FaultTarget } from '../../support/faults/fault.ts'
import { patternedBytes } from '../../support/bytes.ts'
import type { DocmountDoor } from '../../support/docmount-door.ts'
import { waitUntil } from '../../support/wait-until.ts'
import type { Topic } from '../topic.ts'
import { withFault } from './read-faults.ts'

const bytes = patternedBytes(500_000, 'write faults')

/** A portal in between speaks for the service, and nothing was done. */
const page: Fault = { kind: 'page', body: '<html>log in first</html>', isSized: true }

const passing: readonly (readonly [string, Fault, FaultTarget])[] = [
  ['PUT answered with 500', { kind: 'status', status: 500 }, { method: 'PUT', times: 2 }],
  ['PUT answered with 429', { kind: 'status', status: 429, retryAfter: 1 }, { method: 'PUT', times: 1 }],
  ['PUT cut in the middle', { kind: 'cut-request', afterBytes: 100_000 }, { method: 'PUT', times: 1 }],
  ['PUT stored but answered with 500', { kind: 'error-after-commit' }, { method: 'PUT', times: 1 }],
  [
    'PUT stored but answered with 409',
    { kind: 'error-after-commit', status: 409 },
    { method: 'PUT', times: 1 },
  ],
  ['PUT stored but its answer lost', { kind: 'lost-answer' }, { method: 'PUT', times: 1 }],
  ['PUT answered with a page', page, { method: 'PUT', times: 1 }],
  ['PUT slow', { kind: 'latency', ms: 500 }, { method: 'PUT', times: 1 }],
]

const passingOnReplace: readonly (readonly [string, Fault, FaultTarget])[] = [
  ...passing,
  ['DELETE answered with 500', { kind: 'status', status: 500 }, { method: 'DELETE', times: 1 }],
  ['DELETE done but its answer lost', { kind: 'lost-answer' }, { method: 'DELETE', times: 1 }],
  ['DELETE answered with a page', page, { method: 'DELETE', times: 1 }],
  ['GET answered with a page', page, { method: 'GET', times: 1 }],
  ['GET answered with 500', { kind: 'status', status: 500 }, { method: 'GET', times: 1 }],
]

/** More than goes out unasked. */
const larger = patternedBytes(600_000, 'larger')

async function refusing(
  door: DocmountDoor,
  path: string,
  times: number,
  body: () => Promise<void>,
): Promise<void> {
  const hits = await withFault(door, { kind: 'status', status: 413 }, { method: 'PUT', path, times }, body)
  expect(hits).toBeGreaterThan(0)
}

export const writeFaults: Topic<DocmountDoor> = (it) => {
  for (const [what, fault, target] of passing) {
    it(`a new document arrives once: ${what}`, async ({ door, folder, at }) => {
      const hits = await withFault(door, fault, { ...target, path: at('a.pdf') }, async () => {
        await door.writeFile(at('a.pdf'), bytes)
        await door.behind.waitFor(folder, { 'a.pdf': bytes })
      })
      expect(hits).toBe(target.times)
      expect(await door.readdir(folder)).toEqual(['a.pdf'])
      await waitUntil('nothing to be unsent', async () => (await door.unsent()) === 0)
    })
  }

  for (const [what, fault, target] of passingOnReplace) {
    it(`a save over arrives once: ${what}`, { 'a.pdf': 'old' }, async ({ door, folder, at }) => {
      await door.readdir(folder)
      await withFault(door, fault, { ...target, path: at('a.pdf') }, async () => {
        await door.writeFile(at('a.pdf'), bytes)
        await door.behind.waitFor(folder, { 'a.pdf': bytes })
      })
      expect(await door.readdir(folder)).toEqual(['a.pdf'])
      await waitUntil('nothing to be unsent', async () => (await door.unsent()) === 0)
    })
  }

  it(
    'a PUT that fails longer than close waits is kept, and sent when the service is well again',
    { 'a.pdf': 'old' },
    async ({ door, folder, at }) => {
      await door.readdir(folder)
      await withFault(
        door,
        { kind: 'status', status: 503 },
        { method: 'PUT', path: at('a.pdf') },
        async () => {
          await door.writeFile(at('a.pdf'), bytes)
          expect(await door.unsent()).toBe(1)
          expect((await door.readFile(at('a.pdf'))).equals(bytes)).toBe(true)
          expect(await door.readdir(folder)).toEqual(['a.pdf'])
        },
      )
      await door.behind.waitFor(folder, { 'a.pdf': bytes })
      await waitUntil('nothing to be unsent', async () => (await door.unsent()) === 0)
    },
  )

  it('a refusal is the error of close, and the content stays readable here', async ({ door, folder, at }) => {
    await withFault(door, { kind: 'status', status: 413 }, { method: 'PUT', path: at('a.txt') }, async () => {
      const file = await door.open(at('a.txt'), 'w')
      await file.write('precious', 0)
      await expect(file.close()).rejects.toMatchObject({ code: 'EFBIG' })
      expect((await door.readFile(at('a.txt'))).toString()).toBe('precious')
      expect(await door.unsent()).toBe(1)
    })
    await door.writeFile(at('a.txt'), 'accepted')
    await door.behind.waitFor(folder, { 'a.txt': 'accepted' })
    await waitUntil('nothing to be unsent', async () => (await door.unsent()) === 0)
  })

  it(
    'a save over that the service refuses leaves there what stood there',
    { 'a.txt': 'what others read' },
    async ({ door, folder, at }) => {
      expect((await door.readFile(at('a.txt'))).toString()).toBe('what others read')
      await refusing(door, at('a.txt'), 1, async () => {
        const file = await door.open(at('a.txt'), 'w')
        await file.write('precious', 0)
        await expect(file.close()).rejects.toMatchObject({ code: 'EFBIG' })
      })
      await door.behind.waitFor(folder, { 'a.txt': 'what others read' })
      expect((await door.readFile(at('a.txt'))).toString()).toBe('precious')
      expect(await door.unsent()).toBe(1)
      await door.writeFile(at('a.txt'), 'accepted')
      await door.behind.waitFor(folder, { 'a.txt': 'accepted' })
      await waitUntil('nothing to be unsent', async () => (await door.unsent()) === 0)
    },
  )

  it(
    'a larger save over that the service refuses deletes nothing, whoever has read what stands there',
    { 'a.pdf': 'what others read' },
    async ({ door, folder, at }) => {
      await door.readdir(folder)
      await refusing(door, at('a.pdf'), Infinity, async () => {
        const file = await door.open(at('a.pdf'), 'w')
        await file.write(larger, 0)
        await expect(file.close()).rejects.toMatchObject({ code: 'EFBIG' })
        await door.behind.waitFor(folder, { 'a.pdf': 'what others read' })
        expect((await door.readFile(at('a.pdf'))).equals(larger)).toBe(true)
      })
      await door.rename(at('a.pdf'), at('b.pdf'))
      await door.behind.waitFor(folder, { 'b.pdf': larger })
      await waitUntil('nothing to be unsent', async () => (await door.unsent()) === 0)
    },
  )

  it(
    'what was put back goes with the document that was refused',
    { 'a.txt': 'what others read', 'b.txt': 'b' },
    async ({ door, folder, at }) => {
      await door.readFile(at('a.txt'))
      await refusing(door, at('a.txt'), 1, async () => {
        await door.writeFile(at('a.txt'), 'precious').catch(() => {})
      })
      await door.behind.waitFor(folder, { 'a.txt': 'what others read', 'b.txt': 'b' })
      await door.unlink(at('a.txt'))
      await door.behind.waitFor(folder, { 'b.txt': 'b' })
      await waitUntil('nothing to be unsent', async () => (await door.unsent()) === 0)
    },
  )

  it(
    'a rename over that the service refuses leaves there what stood there',
    { 'a.txt': 'what others read' },
    async ({ door, folder, at }) => {
      await door.readFile(at('a.txt'))
      await door.writeFile(at('a.txt.tmp'), 'precious')
      await refusing(door, at('a.txt'), 1, async () => {
        const { faults } = door.testService.service
        const before = faults.hits
        await door.rename(at('a.txt.tmp'), at('a.txt')).catch(() => {})
        await waitUntil('the refusal', async () => faults.hits > before)
      })
      await door.behind.waitFor(folder, { 'a.txt': 'what others read' })
      // The rename was answered with an error: the kernel asks anew when what it knows has expired.
      await waitUntil(
        'the new version here',
        async () => (await door.readFile(at('a.txt'))).toString() === 'precious',
      )
      await door.writeFile(at('a.txt'), 'accepted')
      await door.behind.waitFor(folder, { 'a.txt': 'accepted' })
    },
  )

  it(
    'a service that does not copy from itself renames by upload',
    { 'a.pdf': bytes },
    async ({ door, folder, at }) => {
      await door.readdir(folder)
      const hits = await withFault(
        door,
        { kind: 'refuse-uri' },
        { method: 'PUT', path: at('b.pdf') },
        async () => {
          await door.rename(at('a.pdf'), at('b.pdf'))
          await door.behind.waitFor(folder, { 'b.pdf': bytes })
        },
      )
      expect(hits).toBeGreaterThan(0)
      expect(await door.readdir(folder)).toEqual(['b.pdf'])
    },
  )

  for (const [what, fault] of [
    ['whose answer is lost', { kind: 'lost-answer' }],
    ['whose copy is stored but answered with 409', { kind: 'error-after-commit', status: 409 }],
  ] as const) {
    it(`a rename ${what} is done once`, { 'a.pdf': bytes }, async ({ door, folder, at }) => {
      await door.readdir(folder)
      await withFault(door, fault, { method: 'PUT', path: at('b.pdf'), times: 1 }, async () => {
        await door.rename(at('a.pdf'), at('b.pdf'))
        await door.behind.waitFor(folder, { 'b.pdf': bytes })
      })
      expect(await door.readdir(folder)).toEqual(['b.pdf'])
    })
  }

  for (const [what, fault] of [
    ['whose answer is lost', { kind: 'lost-answer' }],
    ['that a page is the answer to', page],
  ] as const) {
    it(`a delete ${what} is done`, { 'a.txt': 'a', 'b.txt': 'b' }, async ({ door, folder, at }) => {
      await door.readdir(folder)
      await withFault(door, fault, { method: 'DELETE', path: at('a.txt'), times: 1 }, async () => {
        await door.unlink(at('a.txt'))
        await door.behind.waitFor(folder, { 'b.txt': 'b' })
      })
      expect(await door.readdir(folder)).toEqual(['b.txt'])
    })
  }

  it(
    'a folder is removed where the service says of its DELETE that nothing is there: a balancer has sent it twice',
    { 'd/a.txt': 'a', 'b.txt': 'b' },
    async ({ door, folder, at }) => {
      await door.readdir(at('d'))
      const fault: Fault = { kind: 'error-after-commit', status: 404 }
      await withFault(door, fault, { method: 'DELETE', path: at('d'), times: 1 }, async () => {
        await door.unlink(at('d/a.txt'))
        await door.rmdir(at('d'))
        await door.behind.waitFor(folder, { 'b.txt': 'b' })
      })
      expect(await door.readdir(folder)).toEqual(['b.txt'])
    },
  )

  it(
    'an old listing neither hides nor resurrects our own changes',
    { 'a.txt': 'a', 'b.txt': 'b' },
    async ({ door, folder, at }) => {
      await door.readdir(folder)
      await withFault(
        door,
        { kind: 'stale-listing', ageMs: 60_000 },
        { method: 'GET', path: folder, times: 2 },
        async () => {
          await door.writeFile(at('new.txt'), 'new')
          await door.unlink(at('a.txt'))
          expect((await door.readdir(folder)).sort()).toEqual(['b.txt', 'new.txt'])
        },
      )
      await door.behind.waitFor(folder, { 'b.txt': 'b', 'new.txt': 'new' })
      expect((await door.readdir(folder)).sort()).toEqual(['b.txt', 'new.txt'])
    },
  )
}
