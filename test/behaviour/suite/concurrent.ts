// Several handles at once.

import { expect } from 'vitest'

import { patternedBytes } from '../../support/bytes.ts'
import type { Topic } from '../topic.ts'

const bytes = patternedBytes(2_000_000, 'concurrent')

export const concurrent: Topic = (it) => {
  it('eight readers of one document get the same bytes', { 'a.pdf': bytes }, async ({ door, at }) => {
    const contents = await Promise.all(Array.from({ length: 8 }, () => door.readFile(at('a.pdf'))))
    for (const content of contents) expect(content.equals(bytes)).toBe(true)
  })

  it('a reader sees what a writer has written so far', { 'a.txt': 'old content' }, async ({ door, at }) => {
    const reader = await door.open(at('a.txt'), 'r')
    const writer = await door.open(at('a.txt'), 'r+')
    await writer.write('new', 0)
    expect((await reader.read(20, 0)).toString()).toBe('new content')
    await writer.close()
    await reader.close()
  })

  it('two writers of different ranges both arrive', async ({ door, at }) => {
    await door.writeFile(at('a.txt'), '....................')
    const [one, two] = await Promise.all([door.open(at('a.txt'), 'r+'), door.open(at('a.txt'), 'r+')])
    await Promise.all([one.write('one', 0), two.write('two', 10)])
    await Promise.all([one.close(), two.close()])
    expect((await door.readFile(at('a.txt'))).toString()).toBe('one.......two.......')
  })

  it('twenty files are written at once', async ({ door, folder, at }) => {
    const names = Array.from({ length: 20 }, (_, index) => `${index + 10}.txt`)
    await Promise.all(names.map((name) => door.writeFile(at(name), `content of ${name}`)))
    expect((await door.readdir(folder)).sort()).toEqual(names)
    for (const name of names) expect((await door.readFile(at(name))).toString()).toBe(`content of ${name}`)
  })

  it('a document saved over by two at once holds one of the two, whole', async ({ door, at }) => {
    const contents = [patternedBytes(200_000, 'one'), patternedBytes(200_000, 'two')]
    await door.writeFile(at('a.pdf'), 'old')
    await Promise.all(
      contents.map(async (content) => {
        const temporary = at(`${contents.indexOf(content)}.pdf`)
        await door.writeFile(temporary, content)
        await door.rename(temporary, at('a.pdf'))
      }),
    )
    const found = await door.readFile(at('a.pdf'))
    expect(contents.some((content) => content.equals(found))).toBe(true)
  })

  it('files are created and deleted at once without a trace', async ({ door, folder, at }) => {
    await Promise.all(
      Array.from({ length: 10 }, async (_, index) => {
        await door.writeFile(at(`${index}.txt`), `${index}`)
        await door.unlink(at(`${index}.txt`))
      }),
    )
    expect(await door.readdir(folder)).toEqual([])
  })
}
