// A document that is deleted while it is being sent.

import { expect, it } from 'vitest'
import { openHeld } from '../../support/open-held.ts'

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
