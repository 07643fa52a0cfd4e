// The service is away for longer than anything is cached, in each of the ways networks have, unmounted in between or not.

import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'

import { patternedBytes } from '../../support/bytes.ts'
import type { DocmountDoor } from '../../support/docmount-door.ts'
import type { NetworkState } from '../../support/network.ts'
import { waitUntil } from '../../support/wait-until.ts'
import type { Topic } from '../topic.ts'

const pages = patternedBytes(300_000, 'pages')
/** In each way to lose the network, unmounted in between or not. */
const knownIsShown =
  'what was listed is listed, what was read is read, and of the rest it says that nobody knows'
const sentBefore = 'what was sent before is as it was left'
const allArrives = 'all that is done is here at once, and arrives'
const nothingIsOverwritten = 'nothing of what others did meanwhile is overwritten or deleted'

/** 2001-02-03 04:05:06 UTC. */
const longAgoSec = 981_173_106
/** Well beyond the time to live of one second, and what the doors keep. */
const longerThanAnyCacheMs = 3_000

async function code(work: Promise<unknown>): Promise<string | undefined> {
  return work.then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error.code,
  )
}

/** Loses the network until the drive knows, and nothing it knew is fresh any more. */
async function lose(door: DocmountDoor, how: NetworkState, folder: string): Promise<void> {
  await door.network.set(how)
  await waitUntil('the drive to know', async () => {
    await door.readdir(folder).catch(() => {})
    return (await door.status()).service === 'away'
  })
  await sleep(longerThanAnyCacheMs)
}

async function find(door: DocmountDoor): Promise<void> {
  await door.network.set('up')
  await waitUntil('the drive to know', async () => (await door.status()).service === 'reachable')
}

async function away(
  door: DocmountDoor,
  how: NetworkState,
  folder: string,
  body: () => Promise<void>,
): Promise<void> {
  try {
    await lose(door, how, folder)
    await body()
  } finally {
    await find(door)
  }
}

const names = async (door: DocmountDoor, folder: string): Promise<string[]> =>
  (await door.readdir(folder)).sort()

/** Cases of each way to lose the network. */
export const lostTopic =
  (how: NetworkState, { isRemounted = false } = {}): Topic<DocmountDoor> =>
  (it) => {
    const words = `${how}${isRemounted ? ', unmounted in between' : ''}`

    it(
      `${knownIsShown}: ${words}`,
      { 'read.pdf': pages, 'unread.pdf': pages, 'in/a.txt': 'a', 'never/listed/b.txt': 'b' },
      async ({ door, folder, at }) => {
        await names(door, folder)
        await names(door, at('in'))
        await names(door, at('never'))
        expect((await door.readFile(at('read.pdf'))).equals(pages)).toBe(true)
        await away(door, how, folder, async () => {
          if (isRemounted) await door.remount()
          expect(await names(door, folder)).toEqual(['in', 'never', 'read.pdf', 'unread.pdf'])
          expect(await names(door, at('in'))).toEqual(['a.txt'])
          expect((await door.stat(at('unread.pdf'))).size).toBe(pages.length)
          expect((await door.readFile(at('read.pdf'))).equals(pages)).toBe(true)
          expect(await code(door.readFile(at('unread.pdf')))).toBe('ETIMEDOUT')
          expect(await code(door.readdir(at('never/listed')))).toBe('ETIMEDOUT')
          expect(await code(door.stat(at('never/listed/b.txt')))).toBe('ETIMEDOUT')
          expect(await code(door.stat(at('missing.txt')))).toBe('ENOENT')
          expect((await door.statfs()).freeBytes).toBeGreaterThan(0)
          expect(await door.status()).toMatchObject({ service: 'away', stale: true })
        })
        expect((await door.readFile(at('unread.pdf'))).equals(pages)).toBe(true)
        expect(await names(door, at('never/listed'))).toEqual(['b.txt'])
      },
    )

    it(
      `${sentBefore}: ${words}`,
      {
        'in/over.txt': 'old',
        'in/delete.txt': 'x',
        'in/was.txt': 'w',
        'removed/a.txt': 'a',
        'folder/a.txt': 'a',
      },
      async ({ door, folder, at }) => {
        for (const path of [folder, at('in'), at('removed'), at('folder')]) await names(door, path)
        await door.writeFile(at('in/new.txt'), 'new')
        // A version that was only shown, and never read, would be kept beside the save.
        await door.readFile(at('in/over.txt'))
        await door.writeFile(at('in/over.txt'), 'newer')
        await door.unlink(at('in/delete.txt'))
        await door.readFile(at('in/was.txt'))
        await door.rename(at('in/was.txt'), at('in/is.txt'))
        await door.mkdir(at('made'))
        await door.writeFile(at('made/in.txt'), 'in')
        await door.unlink(at('removed/a.txt'))
        await door.rmdir(at('removed'))
        await door.readFile(at('folder/a.txt'))
        await door.rename(at('folder'), at('moved'))
        await waitUntil('everything to be sent', async () => (await door.unsent()) === 0)
        await away(door, how, at('never'), async () => {
          if (isRemounted) await door.remount()
          expect(await names(door, folder)).toEqual(['in', 'made', 'moved'])
          expect(await names(door, at('in'))).toEqual(['is.txt', 'new.txt', 'over.txt'])
          expect(await names(door, at('made'))).toEqual(['in.txt'])
          expect(await names(door, at('moved'))).toEqual(['a.txt'])
          expect((await door.readFile(at('in/new.txt'))).toString()).toBe('new')
          expect((await door.readFile(at('in/over.txt'))).toString()).toBe('newer')
          expect((await door.readFile(at('in/is.txt'))).toString()).toBe('w')
          expect((await door.readFile(at('made/in.txt'))).toString()).toBe('in')
          expect((await door.readFile(at('moved/a.txt'))).toString()).toBe('a')
        })
      },
    )

    it(
      `${allArrives}: ${words}`,
      {
        'append.txt': 'one',
        'over.txt': 'old',
        'rename.pdf': pages,
        'delete.txt': 'x',
        'sub/deep/f.txt': 'f',
        'folder/a.txt': 'a',
      },
      async ({ door, folder, at }) => {
        for (const path of [folder, at('sub'), at('sub/deep'), at('folder')]) await names(door, path)
        await door.readFile(at('append.txt'))
        const set = async (): Promise<unknown> => {
          const { mtimeNs, mode } = await door.stat(at('w.txt'))
          return { mtimeNs, mode: mode & 0o777 }
        }
        const asSet = { mtimeNs: BigInt(longAgoSec) * 1_000_000_000n, mode: 0o600 }
        const expected = ['append.txt', 'empty', 'made', 'moved', 'over.txt', 'renamed.pdf', 'w.txt']
        await away(door, how, folder, async () => {
          await door.writeFile(at('w.txt'), 'written')
          await door.utimes(at('w.txt'), longAgoSec, longAgoSec)
          await door.chmod(at('w.txt'), 0o600)
          await door.appendFile(at('append.txt'), ' two')
          await door.writeFile(at('over.txt'), 'new')
          await door.rename(at('rename.pdf'), at('renamed.pdf'))
          await door.unlink(at('delete.txt'))
          await door.mkdir(at('made'))
          await door.writeFile(at('made/in.txt'), 'in')
          await door.mkdir(at('empty'))
          await door.unlink(at('sub/deep/f.txt'))
          expect(await code(door.rmdir(at('sub')))).toBe('ENOTEMPTY')
          await door.rmdir(at('sub/deep'))
          await door.rmdir(at('sub'))
          await door.rename(at('folder'), at('moved'))
          if (isRemounted) await door.remount()
          expect(await names(door, folder)).toEqual(expected)
          expect(await names(door, at('moved'))).toEqual(['a.txt'])
          expect((await door.readFile(at('append.txt'))).toString()).toBe('one two')
          expect((await door.readFile(at('over.txt'))).toString()).toBe('new')
          expect((await door.readFile(at('made/in.txt'))).toString()).toBe('in')
          expect((await door.stat(at('renamed.pdf'))).size).toBe(pages.length)
          expect(await set()).toEqual(asSet)
        })
        await door.behind.waitFor(folder, {
          'append.txt': 'one two',
          'over.txt': 'new',
          'renamed.pdf': pages,
          'made/in.txt': 'in',
          'moved/a.txt': 'a',
          'w.txt': 'written',
        })
        expect(await names(door, folder)).toEqual(expected)
        expect(await set()).toEqual(asSet)
      },
    )

    it(
      `${nothingIsOverwritten}: ${words}`,
      { 'save.txt': 'seen', 'delete.txt': 'seen', 'sub/a.txt': 'a' },
      async ({ door, folder, at }) => {
        const { other } = door.testService
        await names(door, folder)
        await names(door, at('sub'))
        await away(door, how, folder, async () => {
          await other.put(at('save.txt'), 'theirs, unseen')
          await other.put(at('delete.txt'), 'theirs, saved anew')
          await other.put(at('create.txt'), 'theirs, made meanwhile')
          await other.put(at('sub/b.txt'), 'theirs, put into the folder')
          await door.writeFile(at('save.txt'), 'ours')
          await door.unlink(at('delete.txt'))
          await door.writeFile(at('create.txt'), 'ours, new')
          await door.unlink(at('sub/a.txt'))
          await door.rmdir(at('sub'))
          if (isRemounted) await door.remount()
        })
        await waitUntil('everything to be sent', async () => (await door.unsent()) === 0)
        await waitUntil('the folder to show again', async () => (await names(door, folder)).includes('sub'))
        const held = await other.documents(folder)
        const text = (name: string): string | undefined => held?.get(name)?.toString()
        expect(text('save.txt')).toBe('ours')
        expect(text('create.txt')).toBe('ours, new')
        expect(text('delete.txt')).toBe('theirs, saved anew')
        expect(text('sub/b.txt')).toBe('theirs, put into the folder')
        const kept = [...(held?.keys() ?? [])].filter((name) => name.includes('(conflict '))
        expect(new Set(kept.map(text))).toEqual(new Set(['theirs, made meanwhile', 'theirs, unseen']))
      },
    )
  }

/** Cases for which one way to lose the network is enough. */
export const awayTopic: Topic<DocmountDoor> = (it) => {
  it(
    'renames of what another client deleted meanwhile hold up nothing that is saved under their names',
    { 'a.txt': 'a', 'b.txt': 'b', 'seen.txt': 'seen' },
    async ({ door, folder, at }) => {
      const { other } = door.testService
      await names(door, folder)
      await away(door, 'refused', folder, async () => {
        await other.delete(at('a.txt'))
        await other.delete(at('b.txt'))
        await door.rename(at('a.txt'), at('seen.txt'))
        await door.rename(at('seen.txt'), at('c.txt'))
        await door.rename(at('b.txt'), at('a.txt'))
        await door.rename(at('a.txt'), at('seen.txt'))
        await door.rename(at('c.txt'), at('d.txt'))
        await door.rename(at('seen.txt'), at('c.txt'))
        for (const name of ['a.txt', 'b.txt', 'seen.txt']) await door.writeFile(at(name), `new ${name}`)
      })
      await waitUntil('nothing to wait but what came to nothing', async () => (await door.unsent()) === 2)
      await door.behind.waitFor(folder, {
        'a.txt': 'new a.txt',
        'b.txt': 'new b.txt',
        'seen.txt': 'new seen.txt',
      })
      for (const name of ['c.txt', 'd.txt']) await door.unlink(at(name))
      await waitUntil('nothing to be unsent', async () => (await door.unsent()) === 0)
      expect(await names(door, folder)).toEqual(['a.txt', 'b.txt', 'seen.txt'])
    },
  )

  it(
    'what others did while it was away is seen when it is back, without being asked for',
    { 'a.txt': 'a' },
    async ({ door, folder, at }) => {
      await names(door, folder)
      await away(door, 'refused', folder, async () => {
        expect(await names(door, folder)).toEqual(['a.txt'])
        await door.testService.other.put(at('b.txt'), 'b')
      })
      await waitUntil('the new name', async () => (await names(door, folder)).length === 2)
    },
  )

  it(
    'a file that is being written when the service goes is read, written and closed, and arrives',
    { 'a.txt': 'known' },
    async ({ door, folder, at }) => {
      const writing = await door.open(at('new.txt'), 'w+')
      await writing.write('before ', 0)
      const reading = await door.open(at('a.txt'), 'r')
      expect((await reading.read(5, 0)).toString()).toBe('known')
      await away(door, 'black-hole', folder, async () => {
        await writing.write('during ', 7)
        expect((await writing.read(20, 0)).toString()).toBe('before during ')
        expect((await reading.read(5, 0)).toString()).toBe('known')
        await writing.write('after', 14)
        await writing.close()
      })
      await reading.close()
      await door.behind.waitFor(folder, { 'a.txt': 'known', 'new.txt': 'before during after' })
    },
  )

  it(
    'nothing is sent while it is away but one question now and then',
    { 'a.txt': 'a' },
    async ({ door, folder, at }) => {
      await names(door, folder)
      await away(door, 'portal', folder, async () => {
        const before = door.network.requests
        for (let i = 0; i < 30; i++) {
          await names(door, folder)
          await door.stat(at('a.txt'))
          await door.writeFile(at(`n${i}.txt`), 'n')
        }
        expect(door.network.requests - before).toBeLessThan(15)
      })
    },
  )
}
