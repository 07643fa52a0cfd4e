// A folder made here under a name that a document came to, and is still to leave, in the service: a restart shows it all the same.

import { expect, it } from 'vitest'
import { openHeld } from '../../support/open-held.ts'

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
  await drive.drain()
  // As a service does that keeps no empty folders.
  await drive.testService.other.delete('/d').catch(() => undefined)
  await drive.fileSystem().refresh('/')
  expect(await drive.calls().readdir('/')).toEqual(['d'])
  await drive.restart()
  expect(await drive.calls().readdir('/')).toEqual(['d'])
})
