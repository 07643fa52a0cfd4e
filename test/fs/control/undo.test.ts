// Versions that programs here replaced or deleted: which are kept, and how they come back.

import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { restoreFormer } from '../../../src/daemon/restore-former.ts'
import { silentNotifier } from '../../../src/fs/operations.ts'
import type { RestoreAnswer, RestoreRequest } from '../../../src/fs/former.ts'
import { patternedBytes } from '../../support/bytes.ts'
import { openHeld, type HeldDrive } from '../../support/open-held.ts'
import { waitUntil } from '../../support/wait-until.ts'

const never = new AbortController().signal

function openUndoing(documents: Readonly<Record<string, string>>, undoFetchBytes = 0): Promise<HeldDrive> {
  return openHeld(documents, { undoMs: 86_400_000, undoFetchBytes })
}

function restore(drive: HeldDrive, request: RestoreRequest): Promise<RestoreAnswer> {
  return restoreFormer({ fileSystem: drive.fileSystem(), notifier: silentNotifier }, request, never)
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
  expect(await restore(drive, { path: '/d/a.txt' })).toEqual({
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
  const restoring = restore(drive, { path: '/a.txt' })
  await expect(restoring).rejects.toMatchObject({ code: 'ENODATA' })
  await expect(restore(drive, { path: '/other.txt' })).rejects.toMatchObject({
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
  await restore(drive, { path: '/a.pdf', at: first?.at, to: '/back/first.pdf' })
  await restore(drive, { path: '/a.pdf' })
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
  const { restored, left } = await restore(drive, { path: '/d/in' })
  expect(restored).toHaveLength(39)
  expect(left).toEqual([{ path: '/d/in/0.txt', why: 'its bytes were not on this machine' }])
  await drive.drain()
  expect((await drive.testService.other.documents('/d/in'))?.get('7.txt')?.toString()).toBe('/d/in/7.txt')
})

it('with --undo-fetch, what is small and not here is downloaded before it goes, by a delete, a save or a rename', async () => {
  const documents = { '/a.txt': 'one', '/b.txt': 'two', '/c.txt': 'three', '/large.txt': 'x'.repeat(100) }
  await using drive = await openUndoing(documents, 100)
  const calls = drive.calls()
  await calls.unlink('/a.txt')
  await calls.unlink('/large.txt')
  await calls.writeFile('/b.txt', 'saved over')
  await calls.writeFile('/new.txt', 'renamed over')
  await calls.rename('/new.txt', '/c.txt')
  await drive.drain()
  expect((await former(drive)).toSorted()).toEqual([
    'deleted /a.txt 3',
    'deleted /large.txt 100: its bytes were not on this machine',
    'replaced /b.txt 3',
    'replaced /c.txt 5',
  ])
  for (const path of ['/a.txt', '/b.txt', '/c.txt']) await restore(drive, { path, to: `/back${path}` })
  await drive.drain()
  const back = await drive.testService.other.documents('/back')
  expect([...(back ?? [])].map(([, bytes]) => bytes.toString()).toSorted()).toEqual(['one', 'three', 'two'])
})

it('with --undo-fetch, a folder is still removed by one DELETE, and all of it comes back', async () => {
  const names = Array.from({ length: 40 }, (_, at) => `/d/in/${at}.txt`)
  await using drive = await openUndoing(Object.fromEntries(names.map((name) => [name, name])), 1000)
  const calls = drive.calls()
  await calls.readdir('/d/in')
  const { service } = drive.testService
  // Its own delete is due long before its download ends.
  drive.holdDownload('/d/in/7.txt')
  const before = service.calls.length
  for (const name of names) await calls.unlink(name)
  const removed = calls.rmdir('/d/in')
  await drive.reached('/d/in/7.txt')
  await drive
    .fileSystem()
    .wait('/d/in', { timeoutMs: 1 })
    .catch(() => {})
  drive.release()
  await removed
  expect(service.calls.slice(before).filter(({ method }) => method === 'DELETE')).toHaveLength(1)
  const { restored, left } = await restore(drive, { path: '/d/in' })
  expect(restored).toHaveLength(40)
  expect(left).toEqual([])
})

it('with --undo-fetch, a folder is removed without what could not be downloaded in ten seconds', async () => {
  await using drive = await openUndoing({ '/d/a.txt': 'one', '/d/b.txt': 'two' }, 1000)
  const calls = drive.calls()
  await calls.readdir('/d')
  drive.holdDownload('/d/a.txt')
  for (const name of ['/d/a.txt', '/d/b.txt']) await calls.unlink(name)
  await calls.rmdir('/d')
  drive.release()
  expect((await former(drive)).toSorted()).toEqual([
    'deleted /d/a.txt 3: its bytes were not on this machine',
    'deleted /d/b.txt 3',
  ])
})

it('a delete that the service does not take at once is kept once', async () => {
  await using drive = await openUndoing({ '/a.txt': 'one' })
  await drive.calls().readFile('/a.txt')
  drive.testService.service.faults.inject({ kind: 'status', status: 503 }, { method: 'DELETE', times: 2 })
  await drive.calls().unlink('/a.txt')
  await drive.drain()
  expect(await former(drive)).toEqual(['deleted /a.txt 3'])
})

it('what another client put at the name meanwhile is kept by the restore', async () => {
  await using drive = await openUndoing({ '/a.txt': 'one' })
  await drive.calls().readFile('/a.txt')
  await drive.calls().unlink('/a.txt')
  await drive.drain()
  await drive.testService.other.put('/a.txt', 'theirs')
  await drive.fileSystem().refresh('/')
  await restore(drive, { path: '/a.txt' })
  await drive.drain()
  const held = [...((await drive.testService.other.documents('/')) ?? [])].map(([, bytes]) =>
    bytes.toString(),
  )
  expect(held.sort()).toEqual(['one', 'theirs'])
})

it('it is back once the kernel has heard of the names', async () => {
  await using drive = await openUndoing({ '/d/a.txt': 'one' })
  await drive.calls().readFile('/d/a.txt')
  await drive.calls().unlink('/d/a.txt')
  await drive.drain()
  const changed: string[] = []
  let hear = (): void => {}
  const heard = new Promise<void>((resolve) => (hear = resolve))
  const notifier = {
    ...silentNotifier,
    entryChanging: (_: number, name: string) => () => void changed.push(name),
    heard: () => heard,
  }
  let isBack = false
  const restoring = restoreFormer(
    { fileSystem: drive.fileSystem(), notifier },
    { path: '/d/a.txt', to: '/e/a.txt' },
    never,
  ).finally(() => (isBack = true))
  await waitUntil('the document', async () => {
    const [version] = await drive.fileSystem().former('/d/a.txt')
    return version?.isRestored === true
  })
  expect(changed).toContain('a.txt')
  expect(isBack).toBe(false)
  hear()
  await restoring
  expect((await drive.calls().readFile('/e/a.txt')).toString()).toBe('one')
})

it('bytes that are damaged on this machine come back as no document', async () => {
  await using drive = await openUndoing({ '/a.txt': 'the content' })
  await drive.calls().readFile('/a.txt')
  await drive.calls().unlink('/a.txt')
  await drive.drain()
  const dir = join(drive.stateDir(), 'undo')
  const [pack = ''] = await readdir(dir)
  const text = await readFile(join(dir, pack), 'latin1')
  await writeFile(join(dir, pack), text.replace('the content', 'the kontent'), 'latin1')
  await expect(restore(drive, { path: '/a.txt' })).rejects.toMatchObject({ code: 'EIO' })
  expect(await drive.calls().readdir('/')).toEqual([])
  expect((await restore(drive, { path: '/' })).left).toMatchObject([{ path: '/a.txt' }])
  expect(await drive.calls().readdir('/')).toEqual([])
  expect(await former(drive)).toEqual(['deleted /a.txt 11'])
})
