// fsync: in the middle of writing, and for its own sake.

import { expect } from 'vitest'

import type { Topic } from '../topic.ts'

export const sync: Topic = (it) => {
  it('a file synced and closed holds what was written', async ({ door, at }) => {
    const file = await door.open(at('a.txt'), 'w')
    await file.write('one', 0)
    await file.sync()
    await file.close()
    expect((await door.readFile(at('a.txt'))).toString()).toBe('one')
  })

  it('writes after a sync are saved too', { 'a.txt': 'old' }, async ({ door, at }) => {
    const file = await door.open(at('a.txt'), 'w')
    await file.write('one', 0)
    await file.sync()
    await file.write('two', 3)
    await file.sync()
    await file.write('three', 6)
    await file.close()
    expect((await door.readFile(at('a.txt'))).toString()).toBe('onetwothree')
  })

  it(
    'a folder that is synced holds what was made, renamed and deleted in it',
    { 'a.txt': 'a', 'b.txt': 'b' },
    async ({ door, folder, at }) => {
      await door.unlink(at('a.txt'))
      await door.rename(at('b.txt'), at('c.txt'))
      await door.mkdir(at('inner'))
      await door.syncFolder(folder)
      await door.syncFolder(at('inner'))
      expect((await door.readdir(folder)).sort()).toEqual(['c.txt', 'inner'])
    },
  )

  it('a sync with nothing to do succeeds', { 'a.txt': 'a' }, async ({ door, at }) => {
    const file = await door.open(at('a.txt'), 'r+')
    await file.sync()
    await file.close()
    expect((await door.readFile(at('a.txt'))).toString()).toBe('a')
  })
}
