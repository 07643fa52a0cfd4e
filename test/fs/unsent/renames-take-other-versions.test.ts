// A rename takes along what another client has saved at the old place meanwhile: nothing of it is mixed with the version that
// programs here know, nor overwritten unseen.

import { expect, it } from 'vitest'
import { openHeld, type HeldDrive } from '../../support/open-held.ts'
import { waitUntil } from '../../support/wait-until.ts'

const given = { '/a.txt': 'the older version' }
const theirs = 'THEIRS, WHICH IS LONGER THAN THAT'
const text = async (drive: HeldDrive, path: string): Promise<string> =>
  (await drive.calls().readFile(path)).toString()

it.each([
  ['once', ['/b.txt']],
  ['twice', ['/b.txt', '/c.txt']],
])('who reads a document that is renamed %s, and replaced before, is told', async (_times, places) => {
  await using drive = await openHeld(given)
  const file = await drive.calls().open('/a.txt', 'r')
  expect((await file.read(9, 0)).toString()).toBe('the older')
  await drive.testService.other.put('/a.txt', theirs)
  drive.hold('/b.txt')
  let from = '/a.txt'
  for (const to of places) {
    await drive.calls().rename(from, to)
    from = to
  }
  drive.release()
  await drive.drain()
  await expect(file.read(8, 9)).rejects.toThrow('ESTALE')
  await file.close()
  expect(await text(drive, from)).toBe(theirs)
  expect(await drive.testService.other.documents('/')).toEqual(
    new Map([[from.slice(1), Buffer.from(theirs)]]),
  )
})

it('who waits for the rename to read it gets no part of another version', async () => {
  await using drive = await openHeld(given)
  await drive.calls().stat('/a.txt')
  await drive.testService.other.put('/a.txt', theirs)
  drive.hold('/b.txt')
  await drive.calls().rename('/a.txt', '/b.txt')
  await drive.reached('/b.txt')
  const file = await drive.calls().open('/b.txt', 'r')
  const reading = file.read(18, 0)
  drive.release()
  await expect(reading).rejects.toThrow('ESTALE')
  await file.close()
  await drive.drain()
  expect(await text(drive, '/b.txt')).toBe(theirs)
})

it('who writes over it before the rename is sent takes nothing of theirs away', async () => {
  await using drive = await openHeld(given)
  await drive.calls().stat('/a.txt')
  await drive.testService.other.put('/a.txt', theirs)
  drive.hold('/b.txt')
  await drive.calls().rename('/a.txt', '/b.txt')
  await drive.reached('/b.txt')
  await drive.calls().writeFile('/b.txt', 'ours')
  drive.release()
  await drive.drain()
  const kept = await drive.testService.other.documents('/')
  expect(kept?.get('b.txt')?.toString()).toBe('ours')
  expect([...(kept?.values() ?? [])].map(String)).toContain(theirs)
})

it('what is renamed there next takes nothing of theirs away that took the place of the first', async () => {
  await using drive = await openHeld({ ...given, '/c.txt': 'the next' })
  drive.holdDelete('/a.txt')
  await drive.calls().rename('/a.txt', '/b.txt')
  await drive.reached('/a.txt')
  await drive.calls().rename('/c.txt', '/b.txt')
  const putBack = await drive.keepJournal()
  await drive.testService.other.put('/b.txt', theirs)
  const restarted = drive.restart(putBack)
  drive.release()
  await restarted
  await drive.drain()
  const kept = await drive.testService.other.documents('/')
  expect(kept?.get('b.txt')?.toString()).toBe('the next')
  expect([...(kept?.values() ?? [])].map(String)).toContain(theirs)
})

it('a document that was stored elsewhere meanwhile is read there, also when an older rename of it comes to its end', async () => {
  await using drive = await openHeld(given)
  const calls = drive.calls()
  await calls.readFile('/a.txt')
  drive.holdAnswer('/b.txt')
  await calls.rename('/a.txt', '/b.txt')
  await drive.reached('/b.txt')
  await calls.writeFile('/b.txt', 'written over')
  await calls.rename('/b.txt', '/c.txt')
  // A backup stays here, and no longer hangs on where it came from.
  await calls.rename('/c.txt', '/c.txt~')
  await calls.writeFile('/c.txt', 'the next')
  await calls.unlink('/c.txt')
  await calls.rename('/c.txt~', '/c.txt')
  await expect
    .poll(async () => (await drive.testService.other.documents('/'))?.get('c.txt')?.toString())
    .toBe('written over')
  drive.release()
  await drive.drain()
  expect(await text(drive, '/c.txt')).toBe('written over')
  expect(await drive.testService.other.documents('/')).toEqual(
    new Map([['c.txt', Buffer.from('written over')]]),
  )
})

it('who reads while a rename of an earlier run comes to its end reads on, also where both places tell one time', async () => {
  const bytes = Buffer.alloc(3_000_000, 'a document of several blocks, ')
  await using drive = await openHeld({ '/a.txt': bytes.toString() }, { tellsTime: false })
  await drive.calls().stat('/a.txt')
  drive.holdAnswer('/b.txt')
  await drive.calls().rename('/a.txt', '/b.txt')
  await drive.reached('/b.txt')
  const restarted = drive.restart(async () => drive.holdDelete('/a.txt'))
  drive.release()
  await restarted
  const file = await drive.calls().open('/b.txt', 'r')
  expect(await file.read(10, 0)).toEqual(bytes.subarray(0, 10))
  await drive.reached('/a.txt')
  drive.release()
  await drive.drain()
  expect(await file.read(10, 2_900_000)).toEqual(bytes.subarray(2_900_000, 2_900_010))
  await file.close()
})

it('who moves on what was saved over it leaves what another client has saved at the place in between', async () => {
  await using drive = await openHeld(given)
  await drive.calls().stat('/a.txt')
  const { faults } = drive.testService.service
  const clear = faults.inject({ kind: 'status', status: 503 }, { method: 'DELETE', path: '/a.txt' })
  await drive.calls().rename('/a.txt', '/b.txt')
  await waitUntil(
    'its copy',
    async () => (await drive.testService.other.documents('/'))?.has('b.txt') === true,
  )
  drive.hold('/c.txt')
  await drive.calls().writeFile('/b.txt', 'ours')
  await drive.calls().rename('/b.txt', '/c.txt')
  await drive.testService.other.put('/b.txt', theirs)
  clear()
  drive.release()
  await drive.drain()
  expect(await drive.testService.other.documents('/')).toEqual(
    new Map([
      ['b.txt', Buffer.from(theirs)],
      ['c.txt', Buffer.from('ours')],
    ]),
  )
})

it.each([
  ['', false],
  [', a restart', true],
])(
  'a document renamed forth, back and forth again while the first is under way%s: its backup is it',
  async (_, isRestarted) => {
    await using drive = await openHeld(given)
    await drive.calls().stat('/a.txt')
    drive.holdAnswer('/b.txt')
    await drive.calls().rename('/a.txt', '/b.txt')
    await drive.reached('/b.txt')
    await drive.calls().rename('/b.txt', '/a.txt')
    await drive.calls().rename('/a.txt', '/b.txt')
    await drive.calls().rename('/b.txt', '/b.txt~')
    await drive.calls().writeFile('/b.txt', 'the next')
    if (isRestarted) {
      const restarted = drive.restart()
      drive.release()
      await restarted
    } else drive.release()
    await drive.drain()
    expect(await text(drive, '/b.txt')).toBe('the next')
    expect(await text(drive, '/b.txt~')).toBe('the older version')
  },
)
