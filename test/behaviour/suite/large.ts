// A document of 20 MiB.

import { expect } from 'vitest'

import { patternedBytes } from '../../support/bytes.ts'
import type { Topic } from '../topic.ts'

const bytes = patternedBytes(20 * 1024 * 1024 + 3, 'large')

export const large: Topic = (it) => {
  it('20 MiB are read byte for byte', { 'a.pdf': bytes }, async ({ door, at }) => {
    expect((await door.readFile(at('a.pdf'))).equals(bytes)).toBe(true)
  })

  it('20 MiB are written, and replaced, byte for byte', async ({ door, at }) => {
    await door.writeFile(at('a.pdf'), bytes)
    expect((await door.readFile(at('a.pdf'))).equals(bytes)).toBe(true)
    const turned = Buffer.from(bytes).reverse()
    await door.writeFile(at('a.pdf'), turned)
    expect((await door.readFile(at('a.pdf'))).equals(turned)).toBe(true)
  })

  it('one byte in the middle of 20 MiB is changed', { 'a.pdf': bytes }, async ({ door, at }) => {
    const file = await door.open(at('a.pdf'), 'r+')
    await file.write('!', 10_000_000)
    await file.close()
    const expected = Buffer.from(bytes)
    expected.write('!', 10_000_000)
    expect((await door.readFile(at('a.pdf'))).equals(expected)).toBe(true)
  })
}
