// New files, and writes in any order.

import { expect } from 'vitest'

import { patternedBytes } from '../../support/bytes.ts'
import type { Topic } from '../topic.ts'

export const write: Topic = (it) => {
  it('a new file holds what was written', async ({ door, at }) => {
    await door.writeFile(at('a.txt'), 'hello')
    expect((await door.readFile(at('a.txt'))).toString()).toBe('hello')
  })

  it('a file created and closed without a write is empty', async ({ door, at }) => {
    const file = await door.open(at('empty.txt'), 'w')
    await file.close()
    expect(await door.readFile(at('empty.txt'))).toHaveLength(0)
  })

  it('what is written is read back before the file is closed', async ({ door, at }) => {
    const file = await door.open(at('a.txt'), 'w+')
    await file.write('hello', 0)
    expect((await file.read(10, 0)).toString()).toBe('hello')
    expect((await door.readFile(at('a.txt'))).toString()).toBe('hello')
    await file.close()
  })

  it('a write beyond the end leaves zeros between', async ({ door, at }) => {
    const file = await door.open(at('sparse.txt'), 'w')
    await file.write('end', 10_000)
    await file.close()
    const expected = Buffer.concat([Buffer.alloc(10_000), Buffer.from('end')])
    expect((await door.readFile(at('sparse.txt'))).equals(expected)).toBe(true)
  })

  it('writes in the middle of an existing document change only their range', async ({ door, at }) => {
    const bytes = patternedBytes(300_000, 'middle')
    await door.writeFile(at('a.pdf'), bytes)
    const expected = Buffer.from(bytes)
    const file = await door.open(at('a.pdf'), 'r+')
    for (const offset of [299_990, 5, 131_070]) {
      await file.write('0123456789', offset)
      expected.write('0123456789', offset)
    }
    await file.close()
    expect((await door.readFile(at('a.pdf'))).equals(expected)).toBe(true)
  })

  it(
    'a partial write keeps the rest of what somebody else put there',
    { 'a.txt': 'The quick brown fox jumps over the lazy dog' },
    async ({ door, at }) => {
      const file = await door.open(at('a.txt'), 'r+')
      await file.write('slow ', 4)
      await file.close()
      expect((await door.readFile(at('a.txt'))).toString()).toBe(
        'The slow  brown fox jumps over the lazy dog',
      )
    },
  )

  it('blocks written backwards make the same file', async ({ door, at }) => {
    const bytes = patternedBytes(200_000, 'backwards')
    const file = await door.open(at('a.pdf'), 'w')
    for (let offset = 150_000; offset >= 0; offset -= 50_000) {
      await file.write(bytes.subarray(offset, offset + 50_000), offset)
    }
    await file.close()
    expect((await door.readFile(at('a.pdf'))).equals(bytes)).toBe(true)
  })

  it('an exclusive create of a name that is taken is EEXIST', { 'a.txt': 'a' }, async ({ door, at }) => {
    await expect(door.open(at('a.txt'), 'wx')).rejects.toMatchObject({ code: 'EEXIST' })
    expect((await door.readFile(at('a.txt'))).toString()).toBe('a')
  })

  it('a create in a missing folder is ENOENT', async ({ door, at }) => {
    await expect(door.writeFile(at('missing/a.txt'), 'a')).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('a write through a handle opened for reading is EBADF', { 'a.txt': 'a' }, async ({ door, at }) => {
    const file = await door.open(at('a.txt'), 'r')
    await expect(file.write('b', 0)).rejects.toMatchObject({ code: 'EBADF' })
    await file.close()
  })
}
