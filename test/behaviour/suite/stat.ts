// Attributes of files and folders.

import { expect } from 'vitest'

import type { Topic } from '../topic.ts'

export const stat: Topic = (it) => {
  it('a file tells its kind and size', { 'a.txt': 'twelve bytes' }, async ({ door, at }) => {
    expect(await door.stat(at('a.txt'))).toMatchObject({ kind: 'file', size: 12, nlink: 1 })
  })

  it('a folder tells its kind', { 'inner/a.txt': 'a' }, async ({ door, at }) => {
    expect(await door.stat(at('inner'))).toMatchObject({ kind: 'folder' })
  })

  it('the size grows with every write, before the file is closed', async ({ door, at }) => {
    const file = await door.open(at('grows.txt'), 'w')
    await file.write('12345', 0)
    expect((await door.stat(at('grows.txt'))).size).toBe(5)
    await file.write('67890', 5)
    expect((await door.stat(at('grows.txt'))).size).toBe(10)
    expect((await file.stat()).size).toBe(10)
    await file.close()
  })

  it('the inode number stays the same while the file is written and closed', async ({ door, at }) => {
    await door.writeFile(at('a.txt'), 'a')
    const { ino } = await door.stat(at('a.txt'))
    await door.appendFile(at('a.txt'), 'b')
    expect((await door.stat(at('a.txt'))).ino).toBe(ino)
  })

  it('the modification time is that of the last write, within a minute', async ({ door, at }) => {
    await door.writeFile(at('a.txt'), 'a')
    const { mtimeNs } = await door.stat(at('a.txt'))
    expect(Math.abs(Number(mtimeNs / 1_000_000n) - Date.now())).toBeLessThan(60_000)
  })

  it(
    'the modification time does not move when nothing is written',
    { 'a.txt': 'a' },
    async ({ door, at }) => {
      const before = await door.stat(at('a.txt'))
      await door.readFile(at('a.txt'))
      const file = await door.open(at('a.txt'), 'r+')
      await file.close()
      expect((await door.stat(at('a.txt'))).mtimeNs).toBe(before.mtimeNs)
    },
  )

  it('a missing file is ENOENT', async ({ door, at }) => {
    await expect(door.stat(at('missing.txt'))).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('a path through a file is ENOTDIR', { 'a.txt': 'a' }, async ({ door, at }) => {
    await expect(door.stat(at('a.txt/b.txt'))).rejects.toMatchObject({ code: 'ENOTDIR' })
  })

  it('there is room on the drive', async ({ door }) => {
    const { sizeBytes, freeBytes } = await door.statfs()
    expect(sizeBytes).toBeGreaterThan(0)
    expect(freeBytes).toBeGreaterThan(0)
  })
}
