// Renaming and moving files and folders.

import { expect } from 'vitest'

import { patternedBytes } from '../../support/bytes.ts'
import type { Topic } from '../topic.ts'

const bytes = patternedBytes(150_000, 'rename')

export const rename: Topic = (it) => {
  it(
    'a folder takes the place of an empty one where a document was just deleted',
    { 'g.txt': 'a', 'other/x.txt': 'x' },
    async ({ door, folder, at }) => {
      await door.unlink(at('g.txt'))
      await door.mkdir(at('g.txt'))
      await door.rename(at('other'), at('g.txt'))
      expect(await door.readdir(folder)).toEqual(['g.txt'])
      expect((await door.readFile(at('g.txt/x.txt'))).toString()).toBe('x')
    },
  )

  it('a document gets a new name in its folder', { 'a.pdf': bytes }, async ({ door, folder, at }) => {
    await door.rename(at('a.pdf'), at('b.pdf'))
    expect(await door.readdir(folder)).toEqual(['b.pdf'])
    expect((await door.readFile(at('b.pdf'))).equals(bytes)).toBe(true)
  })

  it('a document moves to another folder', { 'in/a.pdf': bytes, 'out/b.txt': 'b' }, async ({ door, at }) => {
    await door.rename(at('in/a.pdf'), at('out/a.pdf'))
    expect((await door.readFile(at('out/a.pdf'))).equals(bytes)).toBe(true)
    expect(await door.readdir(at('in'))).toEqual([])
    await expect(door.stat(at('in/a.pdf'))).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it(
    'a document takes the place of another',
    { 'a.pdf': bytes, 'b.pdf': 'old' },
    async ({ door, folder, at }) => {
      await door.rename(at('a.pdf'), at('b.pdf'))
      expect(await door.readdir(folder)).toEqual(['b.pdf'])
      expect((await door.readFile(at('b.pdf'))).equals(bytes)).toBe(true)
    },
  )

  it(
    'a file just written takes the place of a document',
    { 'b.txt': 'old' },
    async ({ door, folder, at }) => {
      await door.writeFile(at('a.txt'), 'new')
      await door.rename(at('a.txt'), at('b.txt'))
      expect(await door.readdir(folder)).toEqual(['b.txt'])
      expect((await door.readFile(at('b.txt'))).toString()).toBe('new')
    },
  )

  it('a file is renamed while it is open for writing', async ({ door, folder, at }) => {
    const file = await door.open(at('a.txt'), 'w')
    await file.write('one', 0)
    await door.rename(at('a.txt'), at('b.txt'))
    await file.write('two', 3)
    await file.close()
    expect(await door.readdir(folder)).toEqual(['b.txt'])
    expect((await door.readFile(at('b.txt'))).toString()).toBe('onetwo')
  })

  it('a reader keeps reading across a rename', { 'a.pdf': bytes }, async ({ door, at }) => {
    const file = await door.open(at('a.pdf'), 'r')
    await door.rename(at('a.pdf'), at('b.pdf'))
    expect((await file.read(1_000, 140_000)).equals(bytes.subarray(140_000, 141_000))).toBe(true)
    await file.close()
  })

  it(
    'a reader of the replaced document keeps the old content',
    { 'a.txt': 'new', 'b.txt': 'old' },
    async ({ door, at }) => {
      const reader = await door.open(at('b.txt'), 'r')
      await door.rename(at('a.txt'), at('b.txt'))
      expect((await reader.read(10, 0)).toString()).toBe('old')
      await reader.close()
      expect((await door.readFile(at('b.txt'))).toString()).toBe('new')
    },
  )

  it('renaming there and back again changes nothing', { 'a.pdf': bytes }, async ({ door, folder, at }) => {
    await door.rename(at('a.pdf'), at('b.pdf'))
    await door.rename(at('b.pdf'), at('a.pdf'))
    expect(await door.readdir(folder)).toEqual(['a.pdf'])
    expect((await door.readFile(at('a.pdf'))).equals(bytes)).toBe(true)
  })

  it('the old name is free at once', { 'a.txt': 'first' }, async ({ door, folder, at }) => {
    await door.rename(at('a.txt'), at('b.txt'))
    await door.writeFile(at('a.txt'), 'second')
    expect((await door.readdir(folder)).sort()).toEqual(['a.txt', 'b.txt'])
    expect((await door.readFile(at('a.txt'))).toString()).toBe('second')
    expect((await door.readFile(at('b.txt'))).toString()).toBe('first')
  })

  it(
    'a folder moves with everything in it',
    { 'old/a.txt': 'a', 'old/deep/b.pdf': bytes, 'old/deep/c.txt': 'c' },
    async ({ door, folder, at }) => {
      await door.rename(at('old'), at('new'))
      expect(await door.readdir(folder)).toEqual(['new'])
      expect((await door.readdir(at('new'))).sort()).toEqual(['a.txt', 'deep'])
      expect((await door.readdir(at('new/deep'))).sort()).toEqual(['b.pdf', 'c.txt'])
      expect((await door.readFile(at('new/deep/b.pdf'))).equals(bytes)).toBe(true)
      await expect(door.stat(at('old/a.txt'))).rejects.toMatchObject({ code: 'ENOENT' })
    },
  )

  it('an empty folder is renamed', async ({ door, folder, at }) => {
    await door.mkdir(at('old'))
    await door.rename(at('old'), at('new'))
    expect(await door.readdir(folder)).toEqual(['new'])
    await door.writeFile(at('new/a.txt'), 'a')
  })

  it('a folder takes the place of an empty one', { 'old/a.txt': 'a' }, async ({ door, folder, at }) => {
    await door.mkdir(at('new'))
    await door.rename(at('old'), at('new'))
    expect(await door.readdir(folder)).toEqual(['new'])
    expect((await door.readFile(at('new/a.txt'))).toString()).toBe('a')
  })

  it(
    'a folder over one that is not empty is ENOTEMPTY',
    { 'old/a.txt': 'a', 'new/b.txt': 'b' },
    async ({ door, at }) => {
      await expect(door.rename(at('old'), at('new'))).rejects.toMatchObject({ code: 'ENOTEMPTY' })
      expect((await door.readFile(at('new/b.txt'))).toString()).toBe('b')
      expect((await door.readFile(at('old/a.txt'))).toString()).toBe('a')
    },
  )

  it('a folder into itself is EINVAL', { 'old/a.txt': 'a' }, async ({ door, at }) => {
    await expect(door.rename(at('old'), at('old/inner'))).rejects.toMatchObject({ code: 'EINVAL' })
  })

  it(
    'a file over a folder is EISDIR, a folder over a file ENOTDIR',
    { 'a.txt': 'a', 'inner/b.txt': 'b' },
    async ({ door, at }) => {
      await expect(door.rename(at('a.txt'), at('inner'))).rejects.toMatchObject({ code: 'EISDIR' })
      await expect(door.rename(at('inner'), at('a.txt'))).rejects.toMatchObject({ code: 'ENOTDIR' })
    },
  )

  it('a missing file is ENOENT', { 'b.txt': 'b' }, async ({ door, at }) => {
    await expect(door.rename(at('missing.txt'), at('b.txt'))).rejects.toMatchObject({ code: 'ENOENT' })
    expect((await door.readFile(at('b.txt'))).toString()).toBe('b')
  })

  it('a document renamed to itself is untouched', { 'a.txt': 'a' }, async ({ door, at }) => {
    await door.rename(at('a.txt'), at('a.txt'))
    expect((await door.readFile(at('a.txt'))).toString()).toBe('a')
  })
}
