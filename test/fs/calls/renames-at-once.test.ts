// Renames that are asked for at once, of names they share: each takes what its name stands for at the moment it happens,
// and never what another one has just put away.

import { describe, expect, it } from 'vitest'
import { rootIno, type Caller } from '../../../src/fs/operations.ts'
import type { Calls } from '../../support/door.ts'
import { openHeld } from '../../support/open-held.ts'

type Shown = Readonly<Record<string, string>>

async function shown(calls: Calls): Promise<Shown> {
  const names = (await calls.readdir('/')).toSorted()
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, String(await calls.readFile(`/${name}`))] as const)),
  )
}

const given = { 'a.txt': 'a', 'b.txt': 'b', 'a.txt~': 'older' }
const renames: readonly (readonly [string, string])[] = [
  ['a.txt', 'b.txt'],
  ['b.txt', 'a.txt~'],
]
/** One after the other, whichever is first. */
const possible: readonly Shown[] = [{ 'a.txt~': 'a' }, { 'a.txt~': 'b', 'b.txt': 'a' }]

it.each([renames, renames.toReversed()])('%j and %j happen one after the other', async (...both) => {
  await using drive = await openHeld(
    Object.fromEntries(Object.entries(given).map(([name, is]) => [`/${name}`, is])),
  )
  const calls = drive.calls()
  await calls.readdir('/')
  await Promise.all(both.map(([from, to]) => calls.rename(`/${from}`, `/${to}`)))
  const found = await shown(calls)
  expect(possible).toContainEqual(found)
  await drive.drain()
  await drive.fileSystem().refresh('/')
  expect(await shown(calls)).toEqual(found)
})

it('of two renames of one document the later finds nothing', async () => {
  await using drive = await openHeld({ '/a.txt': 'a' })
  const calls = drive.calls()
  await calls.readdir('/')
  const answers = await Promise.allSettled(['b', 'c'].map((name) => calls.rename('/a.txt', `/${name}.txt`)))
  expect(answers.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect(await calls.readdir('/')).toHaveLength(1)
})

it('a document that is deleted while it is renamed is gone, or was renamed before', async () => {
  await using drive = await openHeld({ '/a.txt': 'a' })
  const calls = drive.calls()
  await calls.readdir('/')
  const [renamed, deleted] = await Promise.allSettled([
    calls.rename('/a.txt', '/b.txt'),
    calls.unlink('/a.txt'),
  ])
  expect([renamed.status, deleted.status].toSorted()).toEqual(['fulfilled', 'rejected'])
  await drive.drain()
  expect(await calls.readdir('/')).toEqual(renamed.status === 'fulfilled' ? ['b.txt'] : [])
})

it('what is renamed to a name while the document there is renamed is a document of its own', async () => {
  await using drive = await openHeld({ '/a.txt': 'a' })
  const calls = drive.calls()
  await calls.writeFile('/.goutputstream-1', 'newer')
  await Promise.all([calls.rename('/a.txt', '/a.txt~'), calls.rename('/.goutputstream-1', '/a.txt')])
  const found = await shown(calls)
  expect([{ 'a.txt': 'newer', 'a.txt~': 'a' }, { 'a.txt~': 'newer' }]).toContainEqual(found)
  await drive.drain()
  expect(await shown(calls)).toEqual(found)
})

describe('folders', () => {
  it('of two renames of one folder the later finds nothing', async () => {
    await using drive = await openHeld({ '/d/a.txt': 'a', '/e/b.txt': 'b' })
    const calls = drive.calls()
    await calls.readdir('/d')
    await calls.readdir('/e')
    const answers = await Promise.allSettled([calls.rename('/d', '/e/d'), calls.rename('/d', '/f')])
    expect(answers.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    await drive.drain()
    expect(await calls.readdir('/')).toHaveLength(answers[1]?.status === 'fulfilled' ? 2 : 1)
  })

  it('two that are moved into one another are not both moved', async () => {
    await using drive = await openHeld({ '/d/a.txt': 'a', '/e/b.txt': 'b' })
    const calls = drive.calls()
    await calls.readdir('/d')
    await calls.readdir('/e')
    const answers = await Promise.allSettled([calls.rename('/d', '/e/d'), calls.rename('/e', '/d/e')])
    const failures = answers.filter(({ status }) => status === 'rejected')
    expect(failures).toMatchObject([{ reason: { code: 'EINVAL' } }])
    expect(await calls.readdir('/')).toHaveLength(1)
    await drive.drain()
  })

  it('two that are renamed to one name do not lie behind one another', async () => {
    await using drive = await openHeld({ '/d/a.txt': 'a', '/e/b.txt': 'b' })
    const calls = drive.calls()
    await calls.readdir('/d')
    await calls.readdir('/e')
    const answers = await Promise.allSettled([calls.rename('/d', '/f'), calls.rename('/e', '/f')])
    expect(answers.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(await calls.readdir('/')).toHaveLength(2)
  })

  it('of two removals of one folder the later finds nothing', async () => {
    await using drive = await openHeld()
    const calls = drive.calls()
    await calls.mkdir('/d')
    const answers = await Promise.allSettled([calls.rmdir('/d'), calls.rmdir('/d')])
    expect(answers.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  })
})

it('a document that is renamed to a name, and back from there, can be read', async () => {
  await using drive = await openHeld({ '/d/a.txt': 'a', '/d/b.txt': 'b' })
  const calls = drive.calls()
  await calls.stat('/d')
  // Both wait for the listing of the folder.
  await Promise.all([calls.rename('/d/a.txt', '/d/b.txt'), calls.rename('/d/b.txt', '/d/a.txt')])
  expect(await calls.readdir('/d')).toEqual(['a.txt'])
  expect((await calls.readFile('/d/a.txt')).toString()).toBe('a')
  await drive.drain()
  expect((await calls.readFile('/d/a.txt')).toString()).toBe('a')
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
