// A folder that is renamed over another: what cannot be moved takes the place of nothing.

import { expect, it } from 'vitest'
import { openHeld } from '../../support/open-held.ts'

it('an empty folder stays where the one that was to take its place holds too much to be renamed', async () => {
  await using drive = await openHeld({ '/d/a.txt': 'a', '/d/b.txt': 'b' }, { renameLimit: 1 })
  await drive.calls().mkdir('/e')
  await expect(drive.calls().rename('/d', '/e')).rejects.toMatchObject({ code: 'EXDEV' })
  expect((await drive.calls().readdir('/')).toSorted()).toEqual(['d', 'e'])
})

it('an empty folder stays where what was to take its place cannot be listed', async () => {
  await using drive = await openHeld({ '/d/a.txt': 'a', '/e/b.txt': 'b' })
  await drive.calls().readdir('/e')
  await drive.calls().unlink('/e/b.txt')
  await drive.drain()
  drive.testService.service.faults.inject({ kind: 'status', status: 403 }, { method: 'GET', path: '/d' })
  await expect(drive.calls().rename('/d', '/e')).rejects.toMatchObject({ code: 'EACCES' })
  expect((await drive.calls().readdir('/')).toSorted()).toEqual(['d', 'e'])
})
