// Reading what somebody else put there.

import { expect } from 'vitest'

import { patternedBytes } from '../../support/bytes.ts'
import type { Topic } from '../topic.ts'

const page = patternedBytes(4_096 * 3 + 17, 'page')
const large = patternedBytes(3_000_001, 'large')

export const read: Topic = (it) => {
  it('the whole content comes back byte for byte', { 'a.pdf': page }, async ({ door, at }) => {
    expect((await door.readFile(at('a.pdf'))).equals(page)).toBe(true)
  })

  it('a document of several blocks comes back byte for byte', { 'a.pdf': large }, async ({ door, at }) => {
    expect((await door.readFile(at('a.pdf'))).equals(large)).toBe(true)
  })

  it('an empty document is empty', { 'a.txt': '' }, async ({ door, at }) => {
    expect(await door.readFile(at('a.txt'))).toHaveLength(0)
    expect((await door.stat(at('a.txt'))).size).toBe(0)
  })

  it('ranges are read in any order', { 'a.pdf': large }, async ({ door, at }) => {
    const file = await door.open(at('a.pdf'), 'r')
    for (const offset of [2_999_000, 0, 1_500_001, 262_143, 1]) {
      const wanted = large.subarray(offset, offset + 1_001)
      expect((await file.read(1_001, offset)).equals(wanted)).toBe(true)
    }
    await file.close()
  })

  it(
    'a read across the end is shorter, and one beyond it is empty',
    { 'a.pdf': page },
    async ({ door, at }) => {
      const file = await door.open(at('a.pdf'), 'r')
      expect((await file.read(100, page.length - 10)).equals(page.subarray(-10))).toBe(true)
      expect(await file.read(100, page.length)).toHaveLength(0)
      expect(await file.read(100, page.length + 5_000)).toHaveLength(0)
      await file.close()
    },
  )

  it('the same document reads the same twice', { 'a.pdf': page }, async ({ door, at }) => {
    await door.readFile(at('a.pdf'))
    expect((await door.readFile(at('a.pdf'))).equals(page)).toBe(true)
  })

  it('opening a missing file is ENOENT', async ({ door, at }) => {
    await expect(door.open(at('missing.txt'), 'r')).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('opening a folder for writing is EISDIR', { 'inner/a.txt': 'a' }, async ({ door, at }) => {
    await expect(door.open(at('inner'), 'r+')).rejects.toMatchObject({ code: 'EISDIR' })
  })
}
