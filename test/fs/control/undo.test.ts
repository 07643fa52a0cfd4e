// Versions that programs here replaced or deleted: which are kept, and how they come back.

import { expect, it } from 'vitest'

import { patternedBytes } from '../../support/bytes.ts'
import { openHeld, type HeldDrive } from '../../support/open-held.ts'

const never = new AbortController().signal

function openUndoing(documents: Readonly<Record<string, string>>): Promise<HeldDrive> {
  return openHeld(documents, { undoMs: 86_400_000 })
}

async function former(drive: HeldDrive, path = '/'): Promise<string[]> {
  return (await drive.fileSystem().former(path)).map(
    ({ path: at, how, bytes, missing, isRestored }) =>
      `${how} ${at} ${bytes}${missing === undefined ? '' : `: ${missing}`}${isRestored ? ' (back)' : ''}`,
  )
}

it('a document that was read here and deleted is kept, and comes back', async () => {
  await using drive = await openUndoing({ '/d/a.txt': 'one' })
  const calls = drive.calls()
  await calls.readFile('/d/a.txt')
  await calls.unlink('/d/a.txt')
  await drive.drain()
  expect(await drive.testService.other.get('/d/a.txt')).toBeUndefined()
  expect(await former(drive)).toEqual(['deleted /d/a.txt 3'])
  expect(await drive.fileSystem().restore({ path: '/d/a.txt' }, { signal: never })).toEqual({
    restored: [{ path: '/d/a.txt', from: '/d/a.txt', bytes: 3 }],
    left: [],
  })
  expect((await calls.readFile('/d/a.txt')).toString()).toBe('one')
  await drive.drain()
  expect((await drive.testService.other.bytes('/d/a.txt')).toString()).toBe('one')
  expect(await former(drive)).toEqual(['deleted /d/a.txt 3 (back)'])
})

it('what was not on this machine is named as not kept, and its restore says why', async () => {
  await using drive = await openUndoing({ '/a.txt': 'one' })
  await drive.calls().unlink('/a.txt')
  await drive.drain()
  expect(await former(drive)).toEqual(['deleted /a.txt 3: its bytes were not on this machine'])
  const restoring = drive.fileSystem().restore({ path: '/a.txt' }, { signal: never })
  await expect(restoring).rejects.toMatchObject({ code: 'ENODATA' })
  await expect(drive.fileSystem().restore({ path: '/other.txt' }, { signal: never })).rejects.toMatchObject({
    code: 'ENOENT',
  })
})

it.each([
  ['of a few bytes', 9],
  ['of one block', 100_000],
  ['of many blocks', 9 * 1024 * 1024],
])('each version that a save or a rename replaces is kept: %s', async (_, size) => {
  const [one, two, three] = ['one', 'two', 'three'].map((name) => patternedBytes(size, name)) as [
    Buffer,
    Buffer,
    Buffer,
  ]
  await using drive = await openUndoing({ '/keep.txt': 'stays' })
  await drive.testService.other.put('/a.pdf', one)
  await drive.fileSystem().refresh('/')
  const calls = drive.calls()
  expect((await calls.readFile('/a.pdf')).equals(one)).toBe(true)
  await calls.writeFile('/a.pdf', two)
  await drive.drain()
  await calls.writeFile('/b.pdf', three)
  await calls.rename('/b.pdf', '/a.pdf')
  await drive.drain()
  expect(await former(drive, '/a.pdf')).toEqual([`replaced /a.pdf ${size}`, `replaced /a.pdf ${size}`])
  const [, first] = await drive.fileSystem().former('/a.pdf')
  await drive.restartKilled()
  await drive
    .fileSystem()
    .restore({ path: '/a.pdf', at: first?.at, to: '/back/first.pdf' }, { signal: never })
  await drive.fileSystem().restore({ path: '/a.pdf' }, { signal: never })
  expect((await drive.calls().readFile('/back/first.pdf')).equals(one)).toBe(true)
  expect((await drive.calls().readFile('/a.pdf')).equals(two)).toBe(true)
  await drive.drain()
  expect((await drive.testService.other.bytes('/a.pdf')).equals(two)).toBe(true)
  // The version that the restore replaced is kept in its turn.
  expect(await former(drive, '/a.pdf')).toHaveLength(3)
})

it('a renamed document is not listed: its bytes are where it is now', async () => {
  await using drive = await openUndoing({ '/a.txt': 'one' })
  await drive.calls().readFile('/a.txt')
  await drive.calls().rename('/a.txt', '/b.txt')
  await drive.drain()
  expect(await former(drive)).toEqual([])
})

it('a folder that was removed with everything in it is one DELETE, and comes back with what is here of it', async () => {
  const names = Array.from({ length: 40 }, (_, at) => `/d/in/${at}.txt`)
  await using drive = await openUndoing(Object.fromEntries(names.map((name) => [name, name])))
  const calls = drive.calls()
  for (const name of names.slice(1)) await calls.readFile(name)
  await calls.readdir('/d/in')
  const { service } = drive.testService
  const before = service.calls.length
  for (const name of names) await calls.unlink(name)
  await calls.rmdir('/d/in')
  expect(service.calls.slice(before).filter(({ method }) => method === 'DELETE')).toHaveLength(1)
  await drive.drain()
  const { restored, left } = await drive.fileSystem().restore({ path: '/d/in' }, { signal: never })
  expect(restored).toHaveLength(39)
  expect(left).toEqual([{ path: '/d/in/0.txt', why: 'its bytes were not on this machine' }])
  await drive.drain()
  expect((await drive.testService.other.documents('/d/in'))?.get('7.txt')?.toString()).toBe('/d/in/7.txt')
})

it('what another client put at the name meanwhile is kept by the restore', async () => {
  await using drive = await openUndoing({ '/a.txt': 'one' })
  await drive.calls().readFile('/a.txt')
  await drive.calls().unlink('/a.txt')
  await drive.drain()
  await drive.testService.other.put('/a.txt', 'theirs')
  await drive.fileSystem().refresh('/')
  await drive.fileSystem().restore({ path: '/a.txt' }, { signal: never })
  await drive.drain()
  const held = [...((await drive.testService.other.documents('/')) ?? [])].map(([, bytes]) =>
    bytes.toString(),
  )
  expect(held.sort()).toEqual(['one', 'theirs'])
})
