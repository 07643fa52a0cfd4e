// Listing folders.

import { expect } from 'vitest'

import type { Topic } from '../topic.ts'

export const list: Topic = (it) => {
  it('a new folder is empty', async ({ door, folder }) => {
    expect(await door.readdir(folder)).toEqual([])
  })

  it(
    'a folder lists its files and folders, and not what is below them',
    { 'a.txt': 'a', 'b.csv': 'b', 'inner/c.txt': 'c', 'inner/deep/d.txt': 'd' },
    async ({ door, folder }) => {
      expect((await door.readdir(folder)).sort()).toEqual(['a.txt', 'b.csv', 'inner'])
    },
  )

  it('a file just written is listed at once', async ({ door, folder, at }) => {
    await door.readdir(folder)
    await door.writeFile(at('new.txt'), 'new')
    expect(await door.readdir(folder)).toEqual(['new.txt'])
  })

  it('a file is listed from the moment it is created, before it is closed', async ({ door, folder, at }) => {
    const file = await door.open(at('open.txt'), 'w')
    expect(await door.readdir(folder)).toEqual(['open.txt'])
    await file.close()
  })

  it(
    'a deleted file is not listed any more',
    { 'a.txt': 'a', 'b.txt': 'b' },
    async ({ door, folder, at }) => {
      await door.readdir(folder)
      await door.unlink(at('a.txt'))
      expect(await door.readdir(folder)).toEqual(['b.txt'])
    },
  )

  it('three hundred files are listed once each', async ({ door, folder, at }) => {
    const names = Array.from({ length: 300 }, (_, index) => `note ${String(index).padStart(3, '0')}.txt`)
    for (let first = 0; first < names.length; first += 20) {
      await Promise.all(names.slice(first, first + 20).map((name) => door.writeFile(at(name), name)))
    }
    expect((await door.readdir(folder)).sort()).toEqual(names)
  })

  it('listing a missing folder is ENOENT', async ({ door, at }) => {
    await expect(door.readdir(at('missing'))).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('listing a file is ENOTDIR', { 'a.txt': 'a' }, async ({ door, at }) => {
    await expect(door.readdir(at('a.txt'))).rejects.toMatchObject({ code: 'ENOTDIR' })
  })
}
