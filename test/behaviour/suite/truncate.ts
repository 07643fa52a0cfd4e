// Changing a file's size.

import { expect } from 'vitest'

import { patternedBytes } from '../../support/bytes.ts'
import type { Topic } from '../topic.ts'

const bytes = patternedBytes(100_000, 'truncate')

export const truncate: Topic = (it) => {
  it('a smaller size keeps the beginning', { 'a.pdf': bytes }, async ({ door, at }) => {
    await door.truncate(at('a.pdf'), 65_537)
    expect((await door.readFile(at('a.pdf'))).equals(bytes.subarray(0, 65_537))).toBe(true)
  })

  it('a larger size adds zeros', { 'a.pdf': bytes }, async ({ door, at }) => {
    await door.truncate(at('a.pdf'), 100_500)
    const expected = Buffer.concat([bytes, Buffer.alloc(500)])
    expect((await door.readFile(at('a.pdf'))).equals(expected)).toBe(true)
  })

  it('size zero empties the file', { 'a.pdf': bytes }, async ({ door, at }) => {
    await door.truncate(at('a.pdf'), 0)
    expect(await door.readFile(at('a.pdf'))).toHaveLength(0)
  })

  it('its own size changes nothing', { 'a.pdf': bytes }, async ({ door, at }) => {
    await door.truncate(at('a.pdf'), bytes.length)
    expect((await door.readFile(at('a.pdf'))).equals(bytes)).toBe(true)
  })

  it('what was cut off is zeros when the file grows again', { 'a.pdf': bytes }, async ({ door, at }) => {
    await door.truncate(at('a.pdf'), 10)
    await door.truncate(at('a.pdf'), 20)
    const expected = Buffer.concat([bytes.subarray(0, 10), Buffer.alloc(10)])
    expect((await door.readFile(at('a.pdf'))).equals(expected)).toBe(true)
  })

  it('a handle cuts and goes on writing', async ({ door, at }) => {
    const file = await door.open(at('a.txt'), 'w')
    await file.write('0123456789', 0)
    await file.truncate(5)
    await file.write('end', 5)
    await file.close()
    expect((await door.readFile(at('a.txt'))).toString()).toBe('01234end')
  })

  it(
    'the new size is told at once, through a handle and by path',
    { 'a.pdf': bytes },
    async ({ door, at }) => {
      const file = await door.open(at('a.pdf'), 'r+')
      await file.truncate(7)
      expect((await file.stat()).size).toBe(7)
      expect((await door.stat(at('a.pdf'))).size).toBe(7)
      await file.close()
    },
  )

  it('a folder is EISDIR', { 'inner/a.txt': 'a' }, async ({ door, at }) => {
    await expect(door.truncate(at('inner'), 0)).rejects.toMatchObject({ code: 'EISDIR' })
  })
}
