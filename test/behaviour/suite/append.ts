// Appending.

import { expect } from 'vitest'

import type { Topic } from '../topic.ts'

export const append: Topic = (it) => {
  it('appending keeps what somebody else put there', { 'log.txt': 'first\n' }, async ({ door, at }) => {
    await door.appendFile(at('log.txt'), 'second\n')
    expect((await door.readFile(at('log.txt'))).toString()).toBe('first\nsecond\n')
  })

  it('appending to a missing file makes it', async ({ door, at }) => {
    await door.appendFile(at('log.txt'), 'first\n')
    expect((await door.readFile(at('log.txt'))).toString()).toBe('first\n')
  })

  it('two handles append in turn and lose nothing', { 'log.txt': '' }, async ({ door, at }) => {
    const one = await door.open(at('log.txt'), 'a')
    const two = await door.open(at('log.txt'), 'a')
    for (let round = 0; round < 10; round++) {
      await one.write(`one ${round}\n`, 0)
      await two.write(`two ${round}\n`, 0)
    }
    await one.close()
    await two.close()
    const expected = Array.from({ length: 10 }, (_, round) => `one ${round}\ntwo ${round}\n`).join('')
    expect((await door.readFile(at('log.txt'))).toString()).toBe(expected)
  })

  it('appends made at the same time all arrive, whole', async ({ door, at }) => {
    await door.writeFile(at('log.txt'), '')
    await Promise.all(
      Array.from({ length: 8 }, (_, index) => door.appendFile(at('log.txt'), `line ${index}\n`)),
    )
    const lines = (await door.readFile(at('log.txt'))).toString().trimEnd().split('\n').sort()
    expect(lines).toEqual(Array.from({ length: 8 }, (_, index) => `line ${index}`))
  })

  it('an appending handle writes to the end after another one has shortened the file', async ({
    door,
    at,
  }) => {
    await door.writeFile(at('log.txt'), '0123456789')
    const file = await door.open(at('log.txt'), 'a')
    await door.truncate(at('log.txt'), 4)
    await file.write('end', 0)
    await file.close()
    expect((await door.readFile(at('log.txt'))).toString()).toBe('0123end')
  })
}
