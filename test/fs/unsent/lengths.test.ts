// A length is of the version it was decided by: another client's document is neither cut nor grown by it.

import { expect, it } from 'vitest'
import { openHeld, type HeldDrive } from '../../support/open-held.ts'

const caller = { uid: 0, gid: 0, pid: process.pid, signal: new AbortController().signal }
const theirs = 'theirs, which is longer'

/** The drive knows the older version, of 3 bytes, when another client replaces it. */
async function replaced(): Promise<HeldDrive> {
  const drive = await openHeld({ '/a.txt': 'old' })
  await drive.calls().readdir('/')
  expect((await drive.calls().stat('/a.txt')).size).toBe(3)
  return drive
}

async function expectTheirs(drive: HeldDrive): Promise<void> {
  await drive.drain()
  expect(await drive.testService.other.documents('/')).toEqual(new Map([['a.txt', Buffer.from(theirs)]]))
  expect((await drive.calls().readFile('/a.txt')).toString()).toBe(theirs)
}

it.each([
  ['cut', 2],
  ['grown', 5],
])('a document that another client has replaced is not %s by its path', async (_, size) => {
  await using drive = await replaced()
  await drive.testService.other.put('/a.txt', theirs)
  await expect(drive.calls().truncate('/a.txt', size)).rejects.toMatchObject({ code: 'ESTALE' })
  await expectTheirs(drive)
})

it('nor is room reserved in it', async () => {
  await using drive = await replaced()
  const operations = drive.fileSystem()
  const { ino } = await drive.calls().stat('/a.txt')
  const flags = { read: true, write: true, truncate: false }
  const { fh } = await operations.open(ino, flags, caller)
  await drive.testService.other.put('/a.txt', theirs)
  const reserving = async (): Promise<void> => operations.fallocate(fh, 0, 40, false, caller)
  await expect(reserving()).rejects.toMatchObject({ code: 'ESTALE' })
  await operations.flush(fh, caller)
  await operations.release(fh)
  await expectTheirs(drive)
})

it('a length set by the path is journaled when it is answered, also while somebody has the document open', async () => {
  await using drive = await openHeld({ '/a.txt': 'before' })
  const { ino } = await drive.calls().stat('/a.txt')
  const flags = { read: true, write: true, truncate: false }
  const { fh } = await drive.fileSystem().open(ino, flags, caller)
  await drive.calls().truncate('/a.txt', 3)
  expect(drive.fileSystem().unsent('/')).toHaveLength(1)
  await drive.drain()
  expect(await drive.testService.other.documents('/')).toEqual(new Map([['a.txt', Buffer.from('bef')]]))
  await drive.fileSystem().release(fh)
})
