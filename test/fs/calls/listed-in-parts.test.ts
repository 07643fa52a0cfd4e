// A folder is read in parts, and the service answers again between two of them.

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { rootIno, type Caller } from '../../../src/fs/operations.ts'
import { openHeld } from '../../support/open-held.ts'
import { waitUntil } from '../../support/wait-until.ts'

const caller: Caller = { uid: 0, gid: 0, pid: 0, signal: new AbortController().signal }

it('names that were not known at first follow those that are only here', async () => {
  await using drive = await openHeld({ '/d/a.txt': 'a' })
  await drive.calls().mkdir('/d/new')
  await drive.restart((stateDir) => rm(join(stateDir, 'listings.db')))
  const { faults } = drive.testService.service
  faults.inject({ kind: 'cut-request', afterBytes: 0 }, { method: 'GET', path: '/d' })
  const operations = drive.fileSystem()
  const { attributes } = await operations.lookup(rootIno, 'd', caller)
  const { fh } = await operations.opendir(attributes?.ino ?? 0, caller)
  const names: string[] = []
  const read = (cookie: number): unknown =>
    operations.readdir(fh, cookie, ({ name }) => names.push(name) > 0, caller)
  await read(0)
  expect(names).toEqual(['new'])
  await expect(read(1)).rejects.toThrow()
  faults.clear()
  await waitUntil('the service to be back', () => drive.fileSystem().status().away === undefined)
  await read(1)
  expect(names).toEqual(['new', 'a.txt'])
  await read(2)
  expect(names).toEqual(['new', 'a.txt'])
  operations.releasedir(fh)
})
