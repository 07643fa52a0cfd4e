// Changes that another client makes at the same time.

import { expect } from 'vitest'

import { patternedBytes } from '../../support/bytes.ts'
import type { OpenFile } from '../../support/door.ts'
import type { DocmountDoor } from '../../support/docmount-door.ts'
import { waitUntil } from '../../support/wait-until.ts'
import type { Topic } from '../topic.ts'

const mebibyte = 1024 * 1024
const old = patternedBytes(8 * mebibyte, 'old')
const changed = patternedBytes(8 * mebibyte, 'changed')

export const otherClients: Topic<DocmountDoor> = (it) => {
  it(
    'a document added by another client is seen when the listing has expired',
    { 'a.txt': 'a' },
    async ({ door, folder, at }) => {
      expect(await door.readdir(folder)).toEqual(['a.txt'])
      await door.testService.other.put(at('b.txt'), 'b')
      await waitUntil('b.txt to be listed', async () => (await door.readdir(folder)).includes('b.txt'))
      expect((await door.readFile(at('b.txt'))).toString()).toBe('b')
    },
  )

  it(
    'a folder’s modification time says that another client changed its names',
    { 'a.txt': 'a' },
    async ({ door, folder, at }) => {
      const longAgoSec = 981_173_106
      const isLongAgo = async (): Promise<boolean> =>
        (await door.stat(folder)).mtimeNs === BigInt(longAgoSec) * 1_000_000_000n
      const changes = [
        () => door.testService.other.put(at('b.txt'), 'b'),
        () => door.testService.other.delete(at('a.txt')),
      ]
      for (const change of changes) {
        await door.readdir(folder)
        await door.utimes(folder, longAgoSec, longAgoSec)
        await change()
        await waitUntil('the folder’s time to move', async () => {
          await door.readdir(folder)
          return !(await isLongAgo())
        })
      }
    },
  )

  it(
    'a name looked up in vain is found once another client has made it',
    { 'a.txt': 'a' },
    async ({ door, at }) => {
      await expect(door.stat(at('b.txt'))).rejects.toMatchObject({ code: 'ENOENT' })
      await door.testService.other.put(at('b.txt'), 'b')
      await waitUntil('b.txt to be found', () => door.stat(at('b.txt')).catch(() => undefined))
    },
  )

  it('a document changed by another client is read anew', { 'a.txt': 'first' }, async ({ door, at }) => {
    expect((await door.readFile(at('a.txt'))).toString()).toBe('first')
    await door.testService.other.put(at('a.txt'), 'second, longer')
    await waitUntil(
      'the new content',
      async () => (await door.readFile(at('a.txt'))).toString() === 'second, longer',
    )
    expect((await door.stat(at('a.txt'))).size).toBe(14)
  })

  it(
    'a document changed by another client to the same size is read anew',
    { 'a.txt': 'first' },
    async ({ door, at }) => {
      expect((await door.readFile(at('a.txt'))).toString()).toBe('first')
      await door.testService.other.put(at('a.txt'), 'other')
      await waitUntil(
        'the new content',
        async () => (await door.readFile(at('a.txt'))).toString() === 'other',
      )
    },
  )

  it(
    'a document deleted by another client is gone when the listing has expired',
    { 'a.txt': 'a', 'b.txt': 'b' },
    async ({ door, folder, at }) => {
      await door.readdir(folder)
      await door.testService.other.delete(at('a.txt'))
      await waitUntil('a.txt to be gone', async () => !(await door.readdir(folder)).includes('a.txt'))
      await expect(door.stat(at('a.txt'))).rejects.toMatchObject({ code: 'ENOENT' })
    },
  )

  it('a reader never gets a mixture of two versions', { 'a.pdf': old }, async ({ door, at }) => {
    const file = await door.open(at('a.pdf'), 'r')
    expect((await file.read(mebibyte, 0)).equals(old.subarray(0, mebibyte))).toBe(true)
    await door.testService.other.put(at('a.pdf'), changed)
    let offset = mebibyte
    let error: NodeJS.ErrnoException | undefined
    while (offset < old.length && error === undefined) {
      try {
        const bytes = await file.read(mebibyte, offset)
        expect(bytes.equals(old.subarray(offset, offset + bytes.length)), `bytes from ${offset}`).toBe(true)
        expect(bytes.length).toBeGreaterThan(0)
        offset += bytes.length
      } catch (reason) {
        error = reason as NodeJS.ErrnoException
      }
    }
    if (error !== undefined) expect(error.code).toBe('ESTALE')
    await file.close()
    await waitUntil('the new content', async () =>
      (await door.readFile(at('a.pdf')).catch(() => old)).equals(changed),
    )
  })

  it(
    'a new document whose name another client took meanwhile gets the name; theirs is kept beside it',
    { 'x.txt': 'x' },
    async ({ door, folder, at }) => {
      const file = await door.open(at('a.txt'), 'w')
      await file.write('ours', 0)
      await door.testService.other.put(at('a.txt'), 'theirs')
      await file.close()
      await expectBoth(door, folder)
    },
  )

  it(
    'a save over a version nobody here has seen keeps that version beside it',
    { 'a.txt': 'old', 'x.txt': 'x' },
    async ({ door, folder, at }) => {
      const file = await door.open(at('a.txt'), 'r+')
      await file.truncate(0)
      await file.write('ours', 0)
      await door.testService.other.put(at('a.txt'), 'theirs')
      await file.close()
      await expectBoth(door, folder)
    },
  )

  it(
    'a document that is saved here, and open still, shows what another client makes of it',
    { 'a.txt': 'old', 'x.txt': 'x' },
    async ({ door, at }) => {
      const file = await door.open(at('a.txt'), 'r+')
      await file.write('our', 0)
      await file.sync()
      await door.testService.other.put(at('a.txt'), 'theirs')
      const isTheirs = async (): Promise<boolean> =>
        (await door.readFile(at('a.txt'))).toString() === 'theirs'
      await waitUntil('their version', isTheirs)
      await file.close()
      expect((await door.readFile(at('a.txt'))).toString()).toBe('theirs')
    },
  )

  it(
    'a part is never written into another version than the one its program has open',
    { 'a.txt': 'old', 'read.txt': 'old' },
    async ({ door, folder, at }) => {
      const [saved, read] = [await door.open(at('a.txt'), 'r+'), await door.open(at('read.txt'), 'r+')]
      await saved.write('our', 0)
      await saved.sync()
      expect((await read.read(3, 0)).toString()).toBe('old')
      for (const name of ['a.txt', 'read.txt']) await door.testService.other.put(at(name), 'theirs')
      for (const name of ['a.txt', 'read.txt']) {
        await waitUntil('their size', async () => {
          await door.readdir(folder)
          return (await door.stat(at(name))).size === 6
        })
      }
      for (const file of [saved, read]) await expectStale(file)
      await door.behind.waitFor(folder, { 'a.txt': 'theirs', 'read.txt': 'theirs' })
    },
  )

  it(
    'a part is never written into a version that is met only when the rest is brought here',
    { 'a.pdf': old },
    async ({ door, at }) => {
      const file = await door.open(at('a.pdf'), 'r+')
      expect((await file.read(mebibyte, 0)).equals(old.subarray(0, mebibyte))).toBe(true)
      await door.testService.other.put(at('a.pdf'), changed)
      const refusal = await file.write('X', 0).then(
        () => undefined,
        (error: NodeJS.ErrnoException) => error.code,
      )
      await file.close()
      // A close waits for no upload where saves came close upon each other, as those of the cases before may have.
      await waitUntil('everything to be sent', async () => (await door.unsent()) === 0)
      const found = await door.testService.other.bytes(at('a.pdf'))
      if (refusal === undefined) expect(found.subarray(1).equals(old.subarray(1))).toBe(true)
      else expect([refusal, found.equals(changed)]).toEqual(['ESTALE', true])
    },
  )

  it(
    'a document is neither cut nor grown by the length it had before another client replaced it',
    { 'cut.txt': 'old', 'grown.txt': 'old' },
    async ({ door, folder, at }) => {
      const theirs = 'theirs, and longer'
      const [cut, grown] = [await door.open(at('cut.txt'), 'r+'), await door.open(at('grown.txt'), 'r+')]
      for (const name of ['cut.txt', 'grown.txt']) await door.testService.other.put(at(name), theirs)
      const isStale = { code: 'ESTALE' }
      await expect(cut.truncate(2)).rejects.toMatchObject(isStale)
      await expect(grown.truncate(20)).rejects.toMatchObject(isStale)
      for (const file of [cut, grown]) await file.close()
      await door.behind.waitFor(folder, { 'cut.txt': theirs, 'grown.txt': theirs })
    },
  )

  it(
    'a document deleted by another client while it is written here is uploaded again',
    { 'a.txt': 'old', 'x.txt': 'x' },
    async ({ door, folder, at }) => {
      const file = await door.open(at('a.txt'), 'r+')
      await file.write('new', 0)
      await door.testService.other.delete(at('a.txt'))
      await file.close()
      await door.behind.waitFor(folder, { 'a.txt': 'new', 'x.txt': 'x' })
    },
  )

  it(
    'a folder that another client filled meanwhile is not removed',
    { 'inner/x.txt': 'x' },
    async ({ door, at }) => {
      await door.unlink(at('inner/x.txt'))
      expect(await door.readdir(at('inner'))).toEqual([])
      await door.testService.other.put(at('inner/a.txt'), 'theirs')
      await expect(door.rmdir(at('inner'))).rejects.toMatchObject({ code: 'ENOTEMPTY' })
      expect((await door.testService.other.bytes(at('inner/a.txt'))).toString()).toBe('theirs')
    },
  )

  it('a folder made here that another client filled meanwhile goes here, and nothing of theirs', async ({
    door,
    at,
  }) => {
    await door.mkdir(at('inner'))
    await door.testService.other.put(at('inner/a.txt'), 'theirs')
    await door.rmdir(at('inner'))
    expect((await door.testService.other.bytes(at('inner/a.txt'))).toString()).toBe('theirs')
    await waitUntil(
      'their document to be shown',
      async () =>
        (await door.readFile(at('inner/a.txt')).catch(() => Buffer.alloc(0))).toString() === 'theirs',
    )
  })

  it(
    'a folder emptied here that another client filled meanwhile keeps what they stored, and only that',
    { 'inner/a.txt': 'a', 'inner/b.txt': 'b', 'inner/c.txt': 'c' },
    async ({ door, at }) => {
      expect(await door.readdir(at('inner'))).toHaveLength(3)
      await door.testService.other.put(at('inner/theirs.txt'), 'theirs')
      await door.testService.other.delete(at('inner/c.txt'))
      await door.testService.other.put(at('inner/c.txt'), 'their version')
      for (const name of ['a.txt', 'b.txt']) await door.unlink(at(`inner/${name}`))
      await expect(door.rmdir(at('inner'))).rejects.toMatchObject({ code: 'ENOTEMPTY' })
      await waitUntil('our deletes to be in the service', async () => {
        const found = await door.testService.other.documents(at('inner'))
        return found !== undefined && !found.has('a.txt') && !found.has('b.txt')
      })
      const found = await door.testService.other.documents(at('inner'))
      expect([...(found?.keys() ?? [])].toSorted()).toEqual(['c.txt', 'theirs.txt'])
    },
  )

  it(
    'a document another client saved anew after it was deleted here keeps its folder, and stays',
    { 'inner/a.txt': 'a', 'inner/b.txt': 'b' },
    async ({ door, at }) => {
      expect(await door.readdir(at('inner'))).toHaveLength(2)
      for (const name of ['a.txt', 'b.txt']) await door.unlink(at(`inner/${name}`))
      await door.testService.other.delete(at('inner/a.txt'))
      await door.testService.other.put(at('inner/a.txt'), 'their newer version')
      await expect(door.rmdir(at('inner'))).rejects.toMatchObject({ code: 'ENOTEMPTY' })
      await waitUntil('our delete to be in the service', async () => {
        const found = await door.testService.other.documents(at('inner'))
        return found !== undefined && !found.has('b.txt')
      })
      expect((await door.testService.other.bytes(at('inner/a.txt'))).toString()).toBe('their newer version')
    },
  )
}

/** The program's version is no longer the newest: another client's is. */
async function expectStale(file: OpenFile): Promise<void> {
  await expect(file.write('X', 0)).rejects.toMatchObject({ code: 'ESTALE' })
  await file.close()
}

/** `a.txt` is ours, and theirs is in `a (conflict …).txt`. */
async function expectBoth(door: DocmountDoor, folder: string): Promise<void> {
  const documents = await waitUntil('both versions to be in the service', async () => {
    const found = await door.testService.other.documents(folder)
    return found?.get('a.txt')?.toString() === 'ours' && found.size === 3 && found
  })
  const copy = [...documents].find(([name]) => /^a \(conflict .+\)\.txt$/.test(name))
  expect(copy?.[1].toString()).toBe('theirs')
  await waitUntil('the copy to be listed', async () => (await door.readdir(folder)).includes(copy?.[0] ?? ''))
}
