// How many calls to the service each action costs. A promise, and no timing: it does not depend on the machine.

import { expect } from 'vitest'

import type { Documents } from '../../support/behind.ts'
import type { Door } from '../../support/door.ts'
import { patternedBytes } from '../../support/bytes.ts'
import type { Topic } from '../topic.ts'

const small = patternedBytes(50_000, 'small')
const thirty = Object.fromEntries(
  Array.from({ length: 30 }, (_, index) => [`${index + 10}.txt`, `content ${index}`]),
)

/** The calls of `ls -l`. */
async function listWithAttributes(door: Door, folder: string): Promise<void> {
  for (const name of await door.readdir(folder)) await door.stat(`${folder}/${name}`)
}

export const callBudgets: Topic = (it) => {
  it('a folder is listed with all attributes by at most one call', thirty, async ({ door, folder }) => {
    door.behind.clearCalls()
    await listWithAttributes(door, folder)
    door.behind.expectCalls(folder, { getAtMost: 1, PUT: 0, DELETE: 0, download: 0 })
  })

  it('listed again within the time to live it costs nothing', thirty, async ({ door, folder }) => {
    await listWithAttributes(door, folder)
    door.behind.clearCalls()
    await listWithAttributes(door, folder)
    door.behind.expectCalls(folder, { GET: 0, download: 0 })
  })

  it(
    'a walk over five folders costs at most one call per folder',
    {
      '1/a.txt': 'a',
      '2/a.txt': 'a',
      '3/a.txt': 'a',
      '4/a.txt': 'a',
    },
    async ({ door, folder, at }) => {
      door.behind.clearCalls()
      await listWithAttributes(door, folder)
      for (const name of ['1', '2', '3', '4']) await listWithAttributes(door, at(name))
      door.behind.expectCalls(folder, { getAtMost: 5, download: 0 })
    },
  )

  it(
    'a listed small document is opened and read by one download and no other call',
    { 'a.pdf': small },
    async ({ door, folder, at }) => {
      await door.readdir(folder)
      door.behind.clearCalls()
      expect((await door.readFile(at('a.pdf'))).equals(small)).toBe(true)
      door.behind.expectCalls(folder, { GET: 0, PUT: 0, DELETE: 0, download: 1 })
    },
  )

  it('read again it costs nothing', { 'a.pdf': small }, async ({ door, at, folder }) => {
    await door.readFile(at('a.pdf'))
    door.behind.clearCalls()
    await door.readFile(at('a.pdf'))
    door.behind.expectCalls(folder, { GET: 0, download: 0 })
  })

  it('a missing name in a listed folder costs nothing', { 'a.txt': 'a' }, async ({ door, folder, at }) => {
    await door.readdir(folder)
    door.behind.clearCalls()
    await expect(door.stat(at('missing.txt'))).rejects.toMatchObject({ code: 'ENOENT' })
    door.behind.expectCalls(folder, { GET: 0 })
  })

  it('folders that exist only here are made, renamed and removed without a call', async ({
    door,
    folder,
    at,
  }) => {
    await door.readdir(folder)
    door.behind.clearCalls()
    await door.mkdir(at('inner'))
    await door.mkdir(at('inner/deeper'))
    await door.rename(at('inner'), at('moved'))
    await door.rmdir(at('moved/deeper'))
    await door.rmdir(at('moved'))
    await door.behind.waitFor(folder, {})
    door.behind.expectCalls(folder, { apiAtMost: 0 })
  })

  it('a small new file is one PUT and nothing else', { 'a.txt': 'a' }, async ({ door, folder, at }) => {
    await door.readdir(folder)
    door.behind.clearCalls()
    await door.writeFile(at('new.txt'), 'new')
    await door.behind.waitFor(folder, { 'a.txt': 'a', 'new.txt': 'new' })
    door.behind.expectCalls(folder, { GET: 0, PUT: 1, DELETE: 0, download: 0 })
  })

  it('what was just written is read without a call', async ({ door, folder, at }) => {
    await door.writeFile(at('new.txt'), 'new')
    door.behind.clearCalls()
    expect((await door.readFile(at('new.txt'))).toString()).toBe('new')
    door.behind.expectCalls(folder, { GET: 0, download: 0 })
  })

  it(
    'a save over is one replace that downloads nothing',
    { 'a.pdf': small },
    async ({ door, folder, at }) => {
      await door.readdir(folder)
      door.behind.clearCalls()
      await door.writeFile(at('a.pdf'), 'new')
      await door.behind.waitFor(folder, { 'a.pdf': 'new' })
      door.behind.expectCalls(folder, { PUT: 1, DELETE: 1, download: 0, apiAtMost: 3 })
    },
  )

  it(
    'opening for writing and closing without a write costs nothing',
    { 'a.pdf': small },
    async ({ door, folder, at }) => {
      await door.readdir(folder)
      door.behind.clearCalls()
      const file = await door.open(at('a.pdf'), 'r+')
      await file.close()
      door.behind.expectCalls(folder, { GET: 0, PUT: 0, DELETE: 0, download: 0 })
    },
  )

  it(
    'a rename is at most four calls and moves no bytes',
    { 'a.pdf': small },
    async ({ door, folder, at }) => {
      await door.readdir(folder)
      door.behind.clearCalls()
      await door.rename(at('a.pdf'), at('b.pdf'))
      await door.behind.waitFor(folder, { 'b.pdf': small })
      // The one download is the service's own, copying from itself.
      door.behind.expectCalls(folder, { PUT: 1, DELETE: 1, apiAtMost: 4 })
    },
  )

  it('a file renamed before it was ever sent is one PUT', async ({ door, folder, at }) => {
    await door.readdir(folder)
    door.behind.clearCalls()
    const file = await door.open(at('a.txt'), 'w')
    await file.write('content', 0)
    await door.rename(at('a.txt'), at('b.txt'))
    await file.close()
    await door.behind.waitFor(folder, { 'b.txt': 'content' })
    door.behind.expectCalls(folder, { PUT: 1, DELETE: 0 })
    door.behind.expectUploads(folder, ['b.txt'])
  })

  it('a delete is one DELETE', { 'a.txt': 'a', 'b.txt': 'b' }, async ({ door, folder, at }) => {
    await door.readdir(folder)
    door.behind.clearCalls()
    await door.unlink(at('a.txt'))
    await door.behind.waitFor(folder, { 'b.txt': 'b' })
    door.behind.expectCalls(folder, { PUT: 0, DELETE: 1, apiAtMost: 2 })
  })

  // A busy machine may take longer to unlink thirty names than deletes are held back: then the next folder shows it.
  const tries = ['inner', 'again', 'once more']
  const thirtyIn = (inners: readonly string[]): Documents =>
    Object.fromEntries(
      inners.flatMap((inner) =>
        Object.entries(thirty).map(([name, content]) => [`${inner}/${name}`, content]),
      ),
    )
  it(
    'a folder removed with its thirty documents is one DELETE',
    thirtyIn(tries),
    async ({ door, folder, at }) => {
      for (const [index, inner] of tries.entries()) {
        const names = await door.readdir(at(inner))
        expect(names).toHaveLength(30)
        door.behind.clearCalls()
        for (const name of names) await door.unlink(at(`${inner}/${name}`))
        await door.rmdir(at(inner))
        await door.behind.waitFor(folder, thirtyIn(tries.slice(index + 1)))
        try {
          door.behind.expectCalls(at(inner), { PUT: 0, DELETE: 1, apiAtMost: 2 })
          return
        } catch (error) {
          if (index === tries.length - 1) throw error
        }
      }
    },
  )

  it('scratch files cost nothing', { 'a.txt': 'a' }, async ({ door, folder, at }) => {
    await door.readdir(folder)
    door.behind.clearCalls()
    for (const name of [
      '.goutputstream-AB12CD',
      '.~lock.a.txt#',
      'lu12345.tmp',
      '.a.txt.swp',
      'a.txt~',
      '#a.txt#',
      'b.part',
      'c.crdownload',
      'd.tmp',
      '~$a.xlsx',
      '.DS_Store',
      '._a.txt',
      'Thumbs.db',
    ]) {
      await door.writeFile(at(name), 'dropping')
      expect((await door.readFile(at(name))).toString()).toBe('dropping')
      await door.rename(at(name), at(`${name}~`))
      await door.unlink(at(`${name}~`))
    }
    for (const name of ['sedAbC123', 'XXAbC123', '.a.txt.AbC123', 'a.txt.oAbC123', 'a.txt.rejects']) {
      const file = await door.open(at(name), 'wx+', 0o600)
      await file.write('as mkstemp makes it', 0)
      await file.close()
      await door.unlink(at(name))
    }
    // vim's probe: a document that is gone before it is sent.
    await (await door.open(at('4913'), 'wx')).close()
    await door.unlink(at('4913'))
    door.behind.expectCalls(folder, { GET: 0, PUT: 0, DELETE: 0, download: 0 })
  })

  it('an empty folder made and removed sends nothing', { 'a.txt': 'a' }, async ({ door, folder, at }) => {
    await door.readdir(folder)
    door.behind.clearCalls()
    await door.mkdir(at('inner'))
    await door.rmdir(at('inner'))
    door.behind.expectCalls(folder, { PUT: 0, DELETE: 0, download: 0 })
  })
}
