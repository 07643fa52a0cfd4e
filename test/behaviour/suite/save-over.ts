// Replacing the content of an existing document.

import { expect } from 'vitest'

import { patternedBytes } from '../../support/bytes.ts'
import type { Topic } from '../topic.ts'

export const saveOver: Topic = (it) => {
  it(
    'new content replaces what somebody else put there',
    { 'a.txt': 'the old one' },
    async ({ door, at }) => {
      await door.writeFile(at('a.txt'), 'new')
      expect((await door.readFile(at('a.txt'))).toString()).toBe('new')
    },
  )

  it(
    'a document saved five times in a row holds the last content',
    { 'a.txt': 'zero' },
    async ({ door, at }) => {
      for (const content of ['one', 'two', 'three', 'four', 'five'])
        await door.writeFile(at('a.txt'), content)
      expect((await door.readFile(at('a.txt'))).toString()).toBe('five')
    },
  )

  it('the same content saved again is still there', { 'a.txt': 'same' }, async ({ door, at }) => {
    await door.writeFile(at('a.txt'), 'same')
    expect((await door.readFile(at('a.txt'))).toString()).toBe('same')
  })

  it('a longer content replaces a shorter one and back', async ({ door, at }) => {
    const long = patternedBytes(700_000, 'long')
    await door.writeFile(at('a.pdf'), 'short')
    await door.writeFile(at('a.pdf'), long)
    expect((await door.readFile(at('a.pdf'))).equals(long)).toBe(true)
    await door.writeFile(at('a.pdf'), 'short')
    expect((await door.readFile(at('a.pdf'))).toString()).toBe('short')
  })

  it(
    'a reader that opened the file before sees the new content in place',
    { 'a.txt': 'old' },
    async ({ door, at }) => {
      const reader = await door.open(at('a.txt'), 'r')
      await door.writeFile(at('a.txt'), 'new')
      expect((await reader.read(10, 0)).toString()).toBe('new')
      await reader.close()
    },
  )

  it('opening for writing and closing changes nothing', { 'a.txt': 'kept' }, async ({ door, at }) => {
    const file = await door.open(at('a.txt'), 'r+')
    await file.close()
    expect((await door.readFile(at('a.txt'))).toString()).toBe('kept')
  })

  it('a file written again after its first close through another handle is saved again', async ({
    door,
    at,
  }) => {
    const first = await door.open(at('a.txt'), 'w')
    const second = await door.open(at('a.txt'), 'r+')
    await first.write('one', 0)
    await first.close()
    await second.write('two', 3)
    await second.close()
    expect((await door.readFile(at('a.txt'))).toString()).toBe('onetwo')
  })
}
