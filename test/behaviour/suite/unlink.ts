// Deleting files, also while they are open.

import { expect } from 'vitest'

import { patternedBytes } from '../../support/bytes.ts'
import type { Topic } from '../topic.ts'

const bytes = patternedBytes(400_000, 'unlink')

export const unlink: Topic = (it) => {
  it('a deleted document is gone', { 'a.txt': 'a', 'b.txt': 'b' }, async ({ door, folder, at }) => {
    await door.unlink(at('a.txt'))
    await expect(door.stat(at('a.txt'))).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(door.readFile(at('a.txt'))).rejects.toMatchObject({ code: 'ENOENT' })
    expect(await door.readdir(folder)).toEqual(['b.txt'])
  })

  it('a folder stays when its last file is deleted', { 'inner/a.txt': 'a' }, async ({ door, at }) => {
    await door.unlink(at('inner/a.txt'))
    expect(await door.stat(at('inner'))).toMatchObject({ kind: 'folder' })
    expect(await door.readdir(at('inner'))).toEqual([])
  })

  it(
    'a document moved into the trash leaves the service, and comes back',
    { 'a.txt': 'a', 'b.txt': 'b' },
    async ({ door, folder, at }) => {
      await door.mkdir('/.Trash-1000')
      await door.rename(at('a.txt'), '/.Trash-1000/a.txt')
      await door.behind.waitFor(folder, { 'b.txt': 'b' })
      expect((await door.readFile('/.Trash-1000/a.txt')).toString()).toBe('a')
      await door.rename('/.Trash-1000/a.txt', at('a.txt'))
      await door.rmdir('/.Trash-1000')
      await door.behind.waitFor(folder, { 'a.txt': 'a', 'b.txt': 'b' })
    },
  )

  it('a name is free again after its file was deleted', { 'a.txt': 'first' }, async ({ door, at }) => {
    await door.unlink(at('a.txt'))
    await door.writeFile(at('a.txt'), 'second')
    expect((await door.readFile(at('a.txt'))).toString()).toBe('second')
  })

  it('deleting twice is ENOENT', { 'a.txt': 'a' }, async ({ door, at }) => {
    await door.unlink(at('a.txt'))
    await expect(door.unlink(at('a.txt'))).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('deleting a folder as a file is EISDIR', { 'inner/a.txt': 'a' }, async ({ door, at }) => {
    await expect(door.unlink(at('inner'))).rejects.toMatchObject({ code: 'EISDIR' })
    expect((await door.readFile(at('inner/a.txt'))).toString()).toBe('a')
  })
}

export const unlinkedOpen: Topic = (it) => {
  it('a deleted file keeps its content for its reader', { 'a.pdf': bytes }, async ({ door, folder, at }) => {
    const file = await door.open(at('a.pdf'), 'r')
    await door.unlink(at('a.pdf'))
    expect(await door.readdir(folder)).toEqual([])
    expect((await file.read(1_000, 300_000)).equals(bytes.subarray(300_000, 301_000))).toBe(true)
    await file.close()
  })

  it(
    'a file deleted together with its folder keeps its content for its reader',
    { 'inner/a.pdf': bytes, 'inner/b.pdf': 'b' },
    async ({ door, folder, at }) => {
      const file = await door.open(at('inner/a.pdf'), 'r')
      for (const name of ['a.pdf', 'b.pdf']) await door.unlink(at(`inner/${name}`))
      await door.rmdir(at('inner'))
      expect(await door.readdir(folder)).toEqual([])
      expect((await file.read(1_000, 300_000)).equals(bytes.subarray(300_000, 301_000))).toBe(true)
      await file.close()
      await door.behind.waitFor(folder, {})
    },
  )

  it('a deleted file goes on taking writes and is never seen again', async ({ door, folder, at }) => {
    const file = await door.open(at('a.txt'), 'w+')
    await file.write('one', 0)
    await door.unlink(at('a.txt'))
    await file.write('two', 3)
    expect((await file.read(10, 0)).toString()).toBe('onetwo')
    expect((await file.stat()).size).toBe(6)
    await file.close()
    expect(await door.readdir(folder)).toEqual([])
  })

  it('a file of a program’s own keeps any content for its reader', async ({ door, folder, at }) => {
    const program = Buffer.from('Vim\x9fUnDo\xe5\0\x02\r\xab\0', 'latin1')
    // Its folder is known: a name is judged by those beside it.
    expect(await door.readdir(folder)).toEqual([])
    for (const name of ['.a.txt.un~', '.b.txt.un~']) await door.writeFile(at(name), program)
    const [deleted, replaced] = [
      await door.open(at('.a.txt.un~'), 'r'),
      await door.open(at('.b.txt.un~'), 'r'),
    ]
    await door.unlink(at('.a.txt.un~'))
    await door.writeFile(at('.c.txt.un~'), 'newer')
    await door.rename(at('.c.txt.un~'), at('.b.txt.un~'))
    for (const file of [deleted, replaced]) {
      expect(await file.read(1_000, 0)).toEqual(program)
      await file.close()
    }
    expect(await door.readdir(folder)).toEqual(['.b.txt.un~'])
    expect((await door.readFile(at('.b.txt.un~'))).toString()).toBe('newer')
    await door.unlink(at('.b.txt.un~'))
  })

  it('a new file of the same name is another file', async ({ door, at }) => {
    const old = await door.open(at('a.txt'), 'w+')
    await old.write('old', 0)
    await door.unlink(at('a.txt'))
    await door.writeFile(at('a.txt'), 'new')
    expect((await old.read(10, 0)).toString()).toBe('old')
    expect((await door.readFile(at('a.txt'))).toString()).toBe('new')
    await old.close()
    expect((await door.readFile(at('a.txt'))).toString()).toBe('new')
  })

  it('a folder goes although a file deleted from it is still open', async ({ door, at }) => {
    await door.mkdir(at('inner'))
    const file = await door.open(at('inner/a.txt'), 'w+')
    await file.write('kept', 0)
    await door.unlink(at('inner/a.txt'))
    await door.rmdir(at('inner'))
    expect((await file.read(10, 0)).toString()).toBe('kept')
    await file.close()
  })
}
