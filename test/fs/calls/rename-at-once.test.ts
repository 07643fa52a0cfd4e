// Renames that overlap: each happens at once, before or after any other, whatever they wait for together. The kernel holds the
// folders meanwhile; a WebDAV client, or a rename that has waited as long as it may, does not.

import { expect, it } from 'vitest'
import { rootIno, type Caller } from '../../../src/fs/operations.ts'
import { openHeld } from '../../support/open-held.ts'

async function settledAll(calls: readonly Promise<void>[]): Promise<string[]> {
  const answers = await Promise.allSettled(calls)
  return answers.map((answer) =>
    answer.status === 'fulfilled' ? 'done' : ((answer.reason as NodeJS.ErrnoException).code ?? 'failed'),
  )
}

it('a document that is renamed to a name, and back from there', async () => {
  await using drive = await openHeld({ '/d/a.txt': 'a', '/d/b.txt': 'b' })
  const calls = drive.calls()
  await calls.stat('/d')
  // Both wait for the listing of the folder.
  expect(
    await settledAll([calls.rename('/d/a.txt', '/d/b.txt'), calls.rename('/d/b.txt', '/d/a.txt')]),
  ).toEqual(['done', 'done'])
  expect(await calls.readdir('/d')).toEqual(['a.txt'])
  expect((await calls.readFile('/d/a.txt')).toString()).toBe('a')
  await drive.drain()
  expect((await calls.readFile('/d/a.txt')).toString()).toBe('a')
  expect((await drive.testService.other.get('/d'))?.entries?.map(({ name }) => name)).toEqual(['a.txt'])
})

it.each([
  ['a document', '/d/a.txt'],
  ['a folder', '/d'],
])('%s that is renamed twice goes with the first', async (_what, path) => {
  await using drive = await openHeld({ '/d/a.txt': 'a', '/d/b.txt': 'b' })
  const calls = drive.calls()
  await calls.stat('/d')
  const answers = await settledAll([calls.rename(path, '/one'), calls.rename(path, '/other')])
  expect(answers).toEqual(['done', 'ENOENT'])
  expect(await calls.readdir('/')).not.toContain('other')
  await drive.drain()
  expect(await calls.readdir('/')).not.toContain('other')
})

it('a folder does not take the place of a document that was made there meanwhile', async () => {
  await using drive = await openHeld({ '/d/a.txt': 'a' })
  const calls = drive.calls()
  await calls.stat('/d')
  const answers = await settledAll([calls.rename('/d', '/new'), calls.writeFile('/new', 'a document')])
  const names = (await calls.readdir('/')).sort()
  if (answers[0] === 'done') expect(answers).toEqual(['done', 'EISDIR'])
  else {
    expect(answers[1]).toBe('done')
    expect(names).toEqual(['d', 'new'])
    expect((await calls.readFile('/new')).toString()).toBe('a document')
    expect((await calls.readFile('/d/a.txt')).toString()).toBe('a')
  }
  await drive.drain()
  expect((await calls.readdir('/')).sort()).toEqual(names)
})

it('nothing is made in a folder, or renamed into one, that was removed while somebody waited', async () => {
  await using drive = await openHeld({ '/a.txt': 'a' })
  const [calls, fileSystem] = [drive.calls(), drive.fileSystem()]
  await calls.mkdir('/d')
  const caller: Caller = { uid: 0, gid: 0, pid: 1, signal: new AbortController().signal }
  const { attributes } = await fileSystem.lookup(rootIno, 'd', caller)
  const ino = attributes?.ino ?? 0
  await calls.rmdir('/d')
  const flags = { read: true, write: true, truncate: false }
  const made: readonly (() => unknown)[] = [
    () => fileSystem.create(ino, 'new.txt', { mode: 0o644, exclusive: false, flags }, caller),
    () => fileSystem.mkdir(ino, 'new', 0o755, caller),
    () => fileSystem.rename(rootIno, 'a.txt', ino, 'a.txt', { exchange: false, noReplace: false }, caller),
  ]
  for (const make of made) await expect((async () => make())()).rejects.toMatchObject({ code: 'ENOENT' })
  expect(await calls.readdir('/')).toEqual(['a.txt'])
})
