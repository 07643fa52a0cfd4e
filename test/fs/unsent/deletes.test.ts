// A document that is deleted while it is being sent.

import { setTimeout } from 'node:timers/promises'

import { describe, expect, it } from 'vitest'
import { rootIno } from '../../../src/fs/operations.ts'
import { createClock } from '../../../src/world/clock.ts'
import { realWorld } from '../../../src/world/world.ts'
import { openHeld, type HeldDrive } from '../../support/open-held.ts'
import { waitUntil } from '../../support/wait-until.ts'

it('a delete stops the upload that is under way, so that its folder goes at once', async () => {
  await using drive = await openHeld()
  await drive.calls().mkdir('/d')
  drive.hold('/d/large.pdf')
  await drive.calls().writeFile('/d/large.pdf', Buffer.alloc(100_000))
  await drive.reached('/d/large.pdf')
  await drive.calls().unlink('/d/large.pdf')
  await drive.calls().rmdir('/d')
  expect(drive.fileSystem().unsent('/')).toEqual([])
  expect((await drive.testService.other.get('/'))?.entries).toEqual([])
})

it('a delete of a save over stops it, and the version before goes', async () => {
  await using drive = await openHeld({ '/a.txt': 'first' })
  await drive.calls().readdir('/')
  drive.hold('/a.txt')
  await drive.calls().writeFile('/a.txt', 'second')
  await drive.reached('/a.txt')
  await drive.calls().unlink('/a.txt')
  await drive.drain()
  expect((await drive.testService.other.get('/'))?.entries).toEqual([])
})

it('a delete leaves what another client had saved since the listing it was decided by', async () => {
  await using drive = await openHeld({ '/a.txt': 'first', '/b.txt': 'first' })
  expect(await drive.calls().readdir('/')).toEqual(['a.txt', 'b.txt'])
  await drive.testService.other.put('/a.txt', 'saved by somebody else')
  for (const path of ['/a.txt', '/b.txt']) await drive.calls().unlink(path)
  await drive.drain()
  expect(await drive.testService.other.documents('/')).toEqual(
    new Map([['a.txt', Buffer.from('saved by somebody else')]]),
  )
  await drive.fileSystem().refresh('/')
  expect(await drive.calls().readdir('/')).toEqual(['a.txt'])
})

it('a delete that the machine slept over leaves what another client saved meanwhile', async () => {
  const world = realWorld()
  let setMs = 0
  const clock = createClock(() => Date.now() + setMs)
  await using drive = await openHeld({ '/a.txt': 'first' }, { world: { ...world, clock } })
  await drive.calls().readFile('/a.txt')
  await drive.calls().unlink('/a.txt')
  setMs = 3_600_000
  await drive.testService.other.put('/a.txt', 'saved by somebody else')
  await drive.drain()
  expect((await drive.testService.other.bytes('/a.txt')).toString()).toBe('saved by somebody else')
})

it('a backup that is deleted while its bytes are brought here leaves none of them', async () => {
  await using drive = await openHeld({ '/a.txt': 'before' })
  await drive.calls().readdir('/')
  drive.holdDownload('/a.txt')
  await drive.calls().rename('/a.txt', '/a.txt~')
  await drive.calls().writeFile('/a.txt', 'after')
  await drive.reached('/a.txt')
  await drive.calls().unlink('/a.txt~')
  drive.release()
  await drive.drain()
  await expect.poll(() => drive.spooled()).toEqual([])
})

it.each([
  { what: 'was deleted', leave: (drive: HeldDrive) => drive.calls().unlink('/a.txt') },
  { what: 'became a backup', leave: (drive: HeldDrive) => drive.calls().rename('/a.txt', '/a.txt~') },
  { what: 'was moved away', leave: (drive: HeldDrive) => drive.calls().rename('/a.txt', '/b.txt') },
])(
  'a file that is made where a document $what is there after a kill once its close is answered',
  async ({ leave }) => {
    await using drive = await openHeld({ '/a.txt': 'before' })
    await drive.calls().readdir('/')
    drive.hold('/a.txt', '/b.txt')
    drive.holdDelete('/a.txt')
    await leave(drive)
    const caller = { uid: 0, gid: 0, pid: process.pid, signal: new AbortController().signal }
    const flags = { read: false, write: true, truncate: false }
    const operations = drive.fileSystem()
    const { opened } = await operations.create(
      rootIno,
      'a.txt',
      { mode: 0o644, flags, exclusive: false },
      caller,
    )
    // The file is not written, and a duplicate of its handle may be left: it is not released.
    await operations.flush(opened.fh, caller)
    await drive.restartKilled()
    expect((await drive.calls().readFile('/a.txt')).toString()).toBe('')
  },
)

describe('a folder goes though what was deleted in it', () => {
  it('arrived after that, from an upload that could not be stopped', async () => {
    await using drive = await openHeld()
    await drive.calls().mkdir('/d')
    drive.holdAnswer('/d/a.txt')
    await drive.calls().writeFile('/d/a.txt', 'first')
    await drive.reached('/d/a.txt')
    await drive.calls().unlink('/d/a.txt')
    drive.release()
    await waitUntil('the answer', () => !isSending(drive))
    await drive.calls().rmdir('/d')
    await drive.drain()
    expect((await drive.testService.other.get('/'))?.entries).toEqual([])
  })

  it('arrived under a document that was made anew by then', async () => {
    await using drive = await openHeld()
    await drive.calls().mkdir('/d')
    drive.holdAnswer('/d/a.txt')
    await drive.calls().writeFile('/d/a.txt', 'first')
    await drive.reached('/d/a.txt')
    await drive.calls().rename('/d/a.txt', '/d/a.txt~')
    // Rests for longer than what saves it, and is deleted before it is sent.
    await drive.calls().writeFile('/d/a.txt', '')
    drive.release()
    await waitUntil('the answer', () => !isSending(drive))
    for (const name of ['a.txt', 'a.txt~']) await drive.calls().unlink(`/d/${name}`)
    await drive.calls().rmdir('/d')
    await drive.drain()
    expect((await drive.testService.other.get('/'))?.entries).toEqual([])
  })

  it('arrived after that, from another folder', async () => {
    await using drive = await openHeld({ '/d/a.txt': 'a' })
    await drive.calls().readdir('/d')
    drive.hold('/e/a.txt')
    await drive.calls().rename('/d', '/e')
    await drive.reached('/e/a.txt')
    await drive.calls().unlink('/e/a.txt')
    drive.release()
    await waitUntil('the move', () => !isSending(drive))
    await drive.calls().rmdir('/e')
    await drive.drain()
    expect((await drive.testService.other.get('/'))?.entries).toEqual([])
  })

  it('has its turn while the folder’s DELETE is on its way: that does for both', async () => {
    await using drive = await openHeld({ '/d/a.txt': 'a' })
    await drive.calls().readdir('/d')
    drive.holdDelete('/d')
    await drive.calls().unlink('/d/a.txt')
    const removed = drive.calls().rmdir('/d')
    await drive.reached('/d')
    // Longer than a delete rests.
    await setTimeout(1_500)
    drive.release()
    await removed
    await drive.drain()
    const { calls } = drive.testService.service
    expect(calls.filter(({ method }) => method === 'DELETE').map(({ path }) => path)).toEqual(['/d'])
    expect((await drive.testService.other.get('/'))?.entries).toEqual([])
  })
})

it('a folder that gets a document while it is deleted in the service stays, and the document arrives', async () => {
  await using drive = await openHeld({ '/d/a.txt': 'a' })
  await drive.calls().readdir('/d')
  await drive.calls().unlink('/d/a.txt')
  drive.holdDelete('/d')
  const removed = drive.calls().rmdir('/d')
  const refused = expect(removed).rejects.toMatchObject({ code: 'ENOTEMPTY' })
  await drive.reached('/d')
  drive.hold('/d/b.txt')
  await drive.calls().writeFile('/d/b.txt', 'b')
  drive.release('/d')
  await refused
  expect(await drive.calls().readdir('/d')).toEqual(['b.txt'])
  drive.release()
  await drive.drain()
  expect((await drive.testService.other.bytes('/d/b.txt')).toString()).toBe('b')
})

function isSending(drive: HeldDrive): boolean {
  return drive
    .fileSystem()
    .unsent('/')
    .some(({ state }) => state === 'sending')
}
