// Making and removing folders.

import { expect } from 'vitest'

import type { Topic } from '../topic.ts'

export const mkdir: Topic = (it) => {
  it('a new folder is there and empty', async ({ door, at }) => {
    await door.mkdir(at('inner'))
    expect(await door.stat(at('inner'))).toMatchObject({ kind: 'folder' })
    expect(await door.readdir(at('inner'))).toEqual([])
  })

  it('files go into a new folder', async ({ door, at }) => {
    await door.mkdir(at('inner'))
    await door.mkdir(at('inner/deeper'))
    await door.writeFile(at('inner/deeper/a.txt'), 'a')
    expect((await door.readFile(at('inner/deeper/a.txt'))).toString()).toBe('a')
  })

  it(
    'a folder stays whose last name was deleted or moved away',
    { 'one/a.txt': 'a', 'two/b.txt': 'b', 'three/inner/c.txt': 'c' },
    async ({ door, folder, at }) => {
      await door.unlink(at('one/a.txt'))
      await door.rename(at('two/b.txt'), at('b.txt'))
      await door.rename(at('three/inner'), at('inner'))
      for (const empty of ['one', 'two', 'three']) expect(await door.readdir(at(empty))).toEqual([])
      expect((await door.readdir(folder)).toSorted()).toEqual(['b.txt', 'inner', 'one', 'three', 'two'])
    },
  )

  it('a name that is taken is EEXIST', { 'a.txt': 'a', 'inner/b.txt': 'b' }, async ({ door, at }) => {
    await expect(door.mkdir(at('a.txt'))).rejects.toMatchObject({ code: 'EEXIST' })
    await expect(door.mkdir(at('inner'))).rejects.toMatchObject({ code: 'EEXIST' })
  })

  it('a missing parent is ENOENT', async ({ door, at }) => {
    await expect(door.mkdir(at('missing/inner'))).rejects.toMatchObject({ code: 'ENOENT' })
  })
}

export const rmdir: Topic = (it) => {
  it('an empty folder goes', async ({ door, folder, at }) => {
    await door.mkdir(at('inner'))
    await door.rmdir(at('inner'))
    expect(await door.readdir(folder)).toEqual([])
    await expect(door.stat(at('inner'))).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it(
    'a folder whose last file was deleted goes',
    { 'inner/a.txt': 'a', 'b.txt': 'b' },
    async ({ door, folder, at }) => {
      await door.unlink(at('inner/a.txt'))
      await door.rmdir(at('inner'))
      expect(await door.readdir(folder)).toEqual(['b.txt'])
    },
  )

  it('a folder with a file in it is ENOTEMPTY', { 'inner/a.txt': 'a' }, async ({ door, at }) => {
    await expect(door.rmdir(at('inner'))).rejects.toMatchObject({ code: 'ENOTEMPTY' })
    expect((await door.readFile(at('inner/a.txt'))).toString()).toBe('a')
  })

  it('a folder with an empty folder in it is ENOTEMPTY', async ({ door, at }) => {
    await door.mkdir(at('inner'))
    await door.mkdir(at('inner/deeper'))
    await expect(door.rmdir(at('inner'))).rejects.toMatchObject({ code: 'ENOTEMPTY' })
  })

  it('a file is ENOTDIR', { 'a.txt': 'a' }, async ({ door, at }) => {
    await expect(door.rmdir(at('a.txt'))).rejects.toMatchObject({ code: 'ENOTDIR' })
  })

  it('a folder in the place of a document just deleted goes', async ({ door, folder, at }) => {
    await door.writeFile(at('g.txt'), 'a')
    await door.unlink(at('g.txt'))
    await door.mkdir(at('g.txt'))
    await door.rmdir(at('g.txt'))
    expect(await door.readdir(folder)).toEqual([])
    await door.behind.waitFor(folder, {})
  })

  it(
    'a folder in the place of a document just deleted is filled, emptied and goes',
    { 'g.txt': 'a' },
    async ({ door, folder, at }) => {
      await door.unlink(at('g.txt'))
      await door.mkdir(at('g.txt'))
      await door.writeFile(at('g.txt/b.txt'), 'b')
      await door.unlink(at('g.txt/b.txt'))
      await door.rmdir(at('g.txt'))
      expect(await door.readdir(folder)).toEqual([])
      await door.behind.waitFor(folder, {})
    },
  )

  it('a missing folder is ENOENT', async ({ door, at }) => {
    await expect(door.rmdir(at('missing'))).rejects.toMatchObject({ code: 'ENOENT' })
  })
}
