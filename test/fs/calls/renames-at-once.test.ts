// Renames that are asked for at once, of names they share: each takes what its name stands for at the moment it happens,
// and never what another one has just put away.

import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { rootIno, type Caller } from '../../../src/fs/operations.ts'
import type { Calls } from '../../support/door.ts'
import { namesIn } from '../../support/object-file.ts'
import { openHeld, type HeldDrive } from '../../support/open-held.ts'
import { serviceTexts } from '../../support/trees.ts'

const caller: Caller = { uid: 0, gid: 0, pid: 1, signal: new AbortController().signal }

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

/** The folder of this document is empty, also in the service. */
async function emptied(drive: HeldDrive, path: string): Promise<void> {
  await drive.calls().unlink(path)
  await drive.drain()
}

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

  it('one in it that somebody lists and lets go of meanwhile moves with all that it holds', async () => {
    await using drive = await openHeld({ '/d/e/f/a.txt': 'a', '/d/b.txt': 'b' })
    const fileSystem = drive.fileSystem()
    const { attributes } = await fileSystem.lookup(rootIno, 'd', caller)
    const listed = namesIn(fileSystem, caller, attributes?.ino ?? 0)
    const latency = { kind: 'latency', ms: 300 } as const
    drive.testService.service.faults.inject(latency, { method: 'GET', path: '/d/e' })
    const moving = drive.calls().rename('/d', '/x')
    for (let times = 0; times < 20; times++) {
      await namesIn(fileSystem, caller, attributes?.ino ?? 0)
      await setTimeout(5)
    }
    await Promise.all([listed, moving])
    await drive.drain()
    expect(await serviceTexts(drive.testService.other)).toEqual({ '/x/e/f/a.txt': 'a', '/x/b.txt': 'b' })
  })

  it('one that leaves its name meanwhile makes room', async () => {
    await using drive = await openHeld({ '/d/a.txt': 'a', '/e/b.txt': 'b' })
    const calls = drive.calls()
    await emptied(drive, '/e/b.txt')
    drive.testService.service.faults.inject(
      { kind: 'latency', ms: 300 },
      { method: 'GET', path: '/e', times: 1 },
    )
    await Promise.all([calls.rename('/d', '/e'), setTimeout(100).then(() => calls.rename('/e', '/f'))])
    expect((await calls.readdir('/')).toSorted()).toEqual(['e', 'f'])
    expect(await calls.readdir('/e')).toEqual(['a.txt'])
    await drive.drain()
    expect(await serviceTexts(drive.testService.other)).toEqual({ '/e/a.txt': 'a' })
  })

  it('an empty one stays where what was to take its place is gone', async () => {
    await using drive = await openHeld({ '/e/b.txt': 'b' })
    const calls = drive.calls()
    await calls.mkdir('/d')
    await emptied(drive, '/e/b.txt')
    drive.testService.service.faults.inject({ kind: 'latency', ms: 300 }, { method: 'GET', path: '/e' })
    const answers = await Promise.allSettled([
      calls.rename('/d', '/e'),
      setTimeout(100).then(() => calls.rmdir('/d')),
    ])
    expect(answers).toMatchObject([{ reason: { code: 'ENOENT' } }, { status: 'fulfilled' }])
    await drive.fileSystem().refresh('/')
    expect(await calls.readdir('/')).toEqual(['e'])
  })

  it('one whose place another takes while it is removed is not empty', async () => {
    await using drive = await openHeld({ '/d/a.txt': 'a', '/e/b.txt': 'b' })
    const calls = drive.calls()
    await emptied(drive, '/e/b.txt')
    const latency = { kind: 'latency', ms: 300 } as const
    drive.testService.service.faults.inject(latency, { method: 'GET', path: '/e', times: 1 })
    const answers = await Promise.allSettled([
      calls.rmdir('/e'),
      setTimeout(100).then(() => calls.rename('/d', '/e')),
    ])
    expect(answers).toMatchObject([{ reason: { code: 'ENOTEMPTY' } }, { status: 'fulfilled' }])
    await drive.drain()
    expect(await serviceTexts(drive.testService.other)).toEqual({ '/e/a.txt': 'a' })
  })

  it.each([
    ['that is waited for', () => {}],
    ['that nobody waits for any more', (waiting: AbortController) => waiting.abort()],
  ])('what is saved in one while its DELETE is on its way, %s, is sent after that', async (_how, giveUp) => {
    await using drive = await openHeld({ '/d/b.txt': 'b' })
    await emptied(drive, '/d/b.txt')
    const waiting = new AbortController()
    drive.holdDelete('/d')
    const removing = drive.fileSystem().rmdir(rootIno, 'd', { ...caller, signal: waiting.signal })
    const outcome = Promise.allSettled([removing])
    await drive.reached('/d')
    giveUp(waiting)
    await drive.calls().writeFile('/d/new.txt', 'new')
    // It could have arrived by now.
    await setTimeout(500)
    drive.release()
    expect(await outcome).toMatchObject([{ status: 'rejected' }])
    await drive.drain()
    expect(await serviceTexts(drive.testService.other)).toEqual({ '/d/new.txt': 'new' })
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
