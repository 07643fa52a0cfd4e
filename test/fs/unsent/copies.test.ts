// A copy that the service makes (copy_file_range of a whole document), and what happens to its original meanwhile.

import { expect, it } from 'vitest'
import { rootIno } from '../../../src/fs/operations.ts'
import { errnoOf } from '../../../src/fs/errno-of.ts'
import { openHeld, type HeldDrive } from '../../support/open-held.ts'
import { waitUntil } from '../../support/wait-until.ts'

const caller = { uid: 0, gid: 0, pid: process.pid, signal: new AbortController().signal }
const readOnly = { read: true, write: false, truncate: false }

/** Copies /a.txt to /b.txt, and answers what closes the copy. */
async function copied(drive: HeldDrive, size: number): Promise<() => Promise<void>> {
  const operations = drive.fileSystem()
  const { ino } = await drive.calls().stat('/a.txt')
  const from = await operations.open(ino, readOnly, caller)
  const how = { mode: 0o644, flags: { ...readOnly, write: true }, exclusive: true }
  const to = await operations.create(rootIno, 'b.txt', how, caller)
  await operations.copyFileRange(from.fh, 0, to.opened.fh, 0, size, caller)
  await operations.release(from.fh)
  return async () => {
    await operations.flush(to.opened.fh, caller)
    await operations.release(to.opened.fh)
  }
}

it('a copy whose original is deleted before it is closed is saved all the same', async () => {
  await using drive = await openHeld({ '/a.txt': 'the original' })
  const close = await copied(drive, 12)
  await drive.calls().unlink('/a.txt')
  await drive.drain()
  expect(await drive.testService.other.get('/a.txt')).toBeUndefined()
  await close()
  await drive.drain()
  expect((await drive.testService.other.bytes('/b.txt')).toString()).toBe('the original')
})

it('a copy that is written to before it is closed has both', async () => {
  await using drive = await openHeld({ '/a.txt': 'the original' })
  const close = await copied(drive, 12)
  const file = await drive.calls().open('/b.txt', 'r+')
  await file.write('THE', 0)
  await file.close()
  await close()
  await drive.drain()
  expect((await drive.testService.other.bytes('/b.txt')).toString()).toBe('THE original')
  expect((await drive.testService.other.bytes('/a.txt')).toString()).toBe('the original')
})

it.each([
  ['whose close does not wait for it', async () => {}, async () => {}],
  [
    'while the service is away',
    (drive: HeldDrive) => drive.testService.stop(),
    (drive: HeldDrive) => drive.testService.start(),
  ],
])('a copy %s is saved, whatever another client does to its original', async (_, leave, comeBack) => {
  await using drive = await openHeld({ '/a.txt': 'the original' })
  expect((await drive.calls().readFile('/a.txt')).toString()).toBe('the original')
  drive.hold('/b.txt')
  await leave(drive)
  const close = await copied(drive, 12)
  await close()
  await comeBack(drive)
  await drive.testService.other.delete('/a.txt')
  drive.release()
  await waitUntil('the service to be there', () => drive.fileSystem().status().service === 'reachable')
  await drive.drain()
  expect((await drive.testService.other.bytes('/b.txt')).toString()).toBe('the original')
  expect((await drive.calls().readFile('/b.txt')).toString()).toBe('the original')
})

it('nobody is told that a copy is saved whose bytes are neither made by the service nor here', async () => {
  await using drive = await openHeld({ '/a.txt': 'the original' })
  await drive.calls().readdir('/')
  await drive.testService.stop()
  const close = await copied(drive, 12)
  expect(errnoOf(await close().catch((error: unknown) => error))).toBe('ETIMEDOUT')
  await drive.testService.start()
})

it('a copy that takes the place of a document whose save is under way replaces that save', async () => {
  await using drive = await openHeld({ '/a.txt': 'the original', '/c.txt': 'older' })
  await drive.calls().readFile('/c.txt')
  drive.hold('/c.txt')
  await drive.calls().writeFile('/c.txt', 'saved here')
  const close = await copied(drive, 12)
  await drive.calls().rename('/b.txt', '/c.txt')
  drive.release()
  // Between the DELETE and the PUT of a replacement there is none.
  const stored = (): Promise<string> => drive.testService.other.bytes('/c.txt').then(String, () => 'none')
  await waitUntil('the save to arrive', async () => (await stored()) === 'saved here')
  await waitUntil('the drive to hear of it', () => drive.fileSystem().status().unsent.length === 0)
  await close()
  await drive.drain()
  const documents = await drive.testService.other.documents('/')
  expect(documents).toEqual(
    new Map(['/a.txt', '/c.txt'].map((path) => [path.slice(1), Buffer.from('the original')])),
  )
})
