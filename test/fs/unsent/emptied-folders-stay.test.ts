// Folders in which nothing is any more stay until they are removed: also under a name that a document is still to leave in the
// service, and where that keeps no empty folders.

import { describe, expect, it } from 'vitest'
import { openHeld, type HeldDrive } from '../../support/open-held.ts'
import { waitUntil } from '../../support/wait-until.ts'

it('a folder that has the name of a document that was renamed there and deleted is shown after a restart', async () => {
  await using drive = await openHeld({ '/a.txt': 'a', '/b.txt': 'b' })
  await drive.calls().readdir('/')
  drive.holdDelete('/a.txt')
  await drive.calls().rename('/b.txt', '/a.txt')
  await drive.reached('/a.txt')
  await drive.calls().unlink('/a.txt')
  await drive.calls().mkdir('/a.txt')
  await drive.restart()
  expect(await drive.calls().readdir('/')).toEqual(['a.txt'])
  expect(await drive.calls().readdir('/a.txt')).toEqual([])
  drive.release()
  await drive.drain()
  await drive.restart()
  expect(await drive.calls().readdir('/a.txt')).toEqual([])
})

it('an emptied folder stays, also where it was listed before its last document had gone', async () => {
  await using drive = await openHeld({ '/d/a.txt': 'a' })
  await drive.calls().readdir('/d')
  drive.holdDelete('/d/a.txt')
  await drive.calls().unlink('/d/a.txt')
  await drive.reached('/d/a.txt')
  await drive.fileSystem().refresh('/')
  expect(await drive.calls().readdir('/')).toEqual(['d'])
  drive.release()
  await expectToStay(drive, ['d'])
})

it('an emptied folder stays, though a listing that lags behind shows it for a while', async () => {
  await using drive = await openHeld({ '/d/a.txt': 'a' })
  const asOf = await emptied(drive)
  const { faults } = drive.testService.service
  const thaw = faults.inject({ kind: 'stale-listing', asOf }, { method: 'GET' })
  await drive.fileSystem().refresh('/')
  thaw()
  await expectToStay(drive, ['d'])
})

it('an emptied folder stays, though a listing that lags behind shows it after a restart', async () => {
  await using drive = await openHeld({ '/d/a.txt': 'a' })
  const asOf = await emptied(drive)
  drive.testService.service.faults.inject({ kind: 'stale-listing', asOf }, { method: 'GET' })
  await drive.restart()
  expect(await drive.calls().readdir('/')).toEqual(['d'])
  drive.testService.service.faults.clear()
  await expectToStay(drive, ['d'])
})

it('an emptied folder stays, though the drive begins without the service, by a listing of before', async () => {
  await using drive = await openHeld({ '/d/a.txt': 'a' })
  await emptied(drive)
  await drive.testService.stop()
  await drive.restart()
  expect(await drive.calls().readdir('/')).toEqual(['d'])
  await drive.testService.start()
  await expectToStay(drive, ['d'])
})

it('a folder that is gone for as long as its only document is replaced is there without the service, too', async () => {
  await using drive = await openHeld({ '/d/a.txt': 'a' })
  await drive.calls().readFile('/d/a.txt')
  drive.hold('/d/a.txt')
  await drive.calls().writeFile('/d/a.txt', 'new')
  await drive.reached('/d/a.txt')
  await drive.testService.other.delete('/d')
  await drive.fileSystem().refresh('/')
  expect(await drive.calls().readdir('/')).toEqual(['d'])
  drive.release()
  await drive.drain()
  await drive.testService.stop()
  await drive.restart()
  expect(await drive.calls().readdir('/')).toEqual(['d'])
  expect(await drive.calls().readdir('/d')).toEqual(['a.txt'])
})

it('a folder stays whose last document is renamed away', async () => {
  await using drive = await openHeld({ '/d/a.txt': 'a' })
  await drive.calls().readdir('/d')
  await drive.calls().rename('/d/a.txt', '/a.txt')
  await expectToStay(drive, ['a.txt', 'd'])
})

it('a folder stays whose last folder is renamed away', async () => {
  await using drive = await openHeld({ '/d/e/a.txt': 'a' })
  await drive.calls().readdir('/d')
  await drive.calls().rename('/d/e', '/e')
  await expectToStay(drive, ['d', 'e'])
})

it('a folder stays whose last document is deleted while it is on its way', async () => {
  await using drive = await openHeld()
  await drive.calls().mkdir('/d')
  drive.holdAnswer('/d/a.txt')
  await drive.calls().writeFile('/d/a.txt', 'a')
  await drive.reached('/d/a.txt')
  await drive.calls().unlink('/d/a.txt')
  drive.release()
  await expectToStay(drive, ['d'])
})

it.for(['/d/b.txt', '/d/.goutputstream-1'])(
  'a folder stays whose last document is deleted beside a new one that a kill takes: %s',
  async (path) => {
    await using drive = await openHeld({ '/d/a.txt': 'a' })
    await drive.calls().readdir('/d')
    drive.hold(path)
    const file = await drive.calls().open(path, 'w')
    await file.write(Buffer.from('never closed'), 0)
    await drive.calls().unlink('/d/a.txt')
    await drive.restartKilled()
    drive.release()
    await expectToStay(drive, ['d'])
  },
)

describe('what was deleted in a folder that was removed without the service shows in none of its name', () => {
  it('that is made after a restart', async () => {
    await using drive = await removedWhileAway()
    await drive.restart()
    await drive.calls().mkdir('/d')
    await drive.calls().writeFile('/d/b.txt', 'b')
    await expectAlone(drive)
  })

  it('that is made before a restart', async () => {
    await using drive = await removedWhileAway()
    await drive.calls().mkdir('/d')
    await drive.calls().writeFile('/d/b.txt', 'b')
    await drive.restart()
    await expectAlone(drive)
  })

  it('that is made before a restart, after a document of that name', async () => {
    await using drive = await removedWhileAway()
    await drive.calls().writeFile('/other.txt', 'other')
    await drive.calls().rename('/other.txt', '/d')
    await drive.calls().unlink('/d')
    await drive.calls().mkdir('/d')
    await drive.calls().writeFile('/d/b.txt', 'b')
    await drive.restart()
    await expectAlone(drive)
  })
})

it('what is in a renamed folder shows in none that is made at its old place after a restart', async () => {
  await using drive = await openHeld({ '/d/e/a.txt': 'a' })
  await drive.calls().readdir('/d/e')
  drive.hold('/n/e/a.txt')
  await drive.calls().rename('/d', '/n')
  await drive.restart()
  await drive.calls().mkdir('/d')
  await drive.calls().mkdir('/d/e')
  await drive.calls().writeFile('/d/e/b.txt', 'b')
  await drive.fileSystem().refresh('/d/e')
  expect(await drive.calls().readdir('/d/e')).toEqual(['b.txt'])
  await drive.restart()
  expect(await drive.calls().readdir('/d/e')).toEqual(['b.txt'])
  drive.release()
  await drive.drain()
  expect(await drive.calls().readdir('/d/e')).toEqual(['b.txt'])
  expect(await drive.calls().readFile('/n/e/a.txt')).toEqual(Buffer.from('a'))
})

/** `/d` is removed with its document while the service is away, which has not heard of it by now. */
async function removedWhileAway(): Promise<HeldDrive> {
  const drive = await openHeld({ '/d/a.txt': 'a', '/other.txt': 'before' })
  await drive.calls().readdir('/')
  await drive.calls().readdir('/d')
  drive.holdDelete('/d/a.txt')
  await drive.testService.stop()
  await drive.calls().writeFile('/seen.txt', 'seen')
  await waitUntil('it to be away', () => drive.fileSystem().status().service === 'away')
  await drive.calls().unlink('/d/a.txt')
  await drive.calls().rmdir('/d')
  return drive
}

/** Only `b.txt` shows in `/d`, while the service has what was deleted and after that. */
async function expectAlone(drive: HeldDrive): Promise<void> {
  await drive.testService.start()
  await waitUntil('it to be back', () => drive.fileSystem().status().service !== 'away')
  await drive.reached('/d/a.txt')
  await drive.fileSystem().refresh('/d')
  expect(await drive.calls().readdir('/d')).toEqual(['b.txt'])
  drive.release()
  await drive.drain()
  await drive.fileSystem().refresh('/d')
  expect(await drive.calls().readdir('/d')).toEqual(['b.txt'])
}

/** Deletes the only document of `/d`, also in the service. Answers when that began. */
async function emptied(drive: HeldDrive): Promise<number> {
  await drive.calls().readdir('/d')
  const asOf = Date.now()
  await drive.calls().unlink('/d/a.txt')
  await drive.drain()
  return asOf
}

/** Everything being sent to a service that keeps no empty folders: `/d` is none of its folders then. */
async function expectToStay(drive: HeldDrive, names: readonly string[]): Promise<void> {
  await drive.drain()
  await drive.testService.other.delete('/d').catch(() => undefined)
  await drive.fileSystem().refresh('/')
  expect((await drive.calls().readdir('/')).toSorted()).toEqual(names)
  await drive.restart()
  expect((await drive.calls().readdir('/')).toSorted()).toEqual(names)
}
