// A document that is renamed while it waits behind the delete of what stood at its name: when that is through, nothing is left
// to be sent at the old name, which a listing of before still shows.

import { expect, it } from 'vitest'
import { openHeld } from '../../support/open-held.ts'
import { waitUntil } from '../../support/wait-until.ts'

it('a name whose older version has gone is not shown again when its document is renamed', async () => {
  await using drive = await openHeld({ '/f.txt': 'older' })
  const calls = drive.calls()
  await calls.readdir('/')
  drive.holdDelete('/f.txt')
  await calls.unlink('/f.txt')
  await calls.writeFile('/f.txt', 'copied')
  await calls.rename('/f.txt', '/f.txt~')
  await drive.reached('/f.txt')
  await calls.writeFile('/f.txt', 'newer')
  await calls.unlink('/f.txt~')
  await drive.fileSystem().refresh('/')
  await calls.readdir('/')
  drive.release()
  const isThrough = async (): Promise<boolean> =>
    drive
      .fileSystem()
      .unsent('/')
      .every(({ action }) => action !== 'delete')
  await waitUntil('the delete to be through', isThrough)
  await calls.rename('/f.txt', '/g.txt')
  expect(await calls.readdir('/')).toEqual(['g.txt'])
  await drive.drain()
  expect(await calls.readdir('/')).toEqual(['g.txt'])
})
