// A state folder that holds nothing goes; anything in it keeps it.

import { realWorld } from '../../../src/world/world.ts'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { removeEmptyState } from '../../../src/content/spool/empty-state.ts'
import { Journal } from '../../../src/content/spool/journal.ts'
import { SavedListings } from '../../../src/content/spool/saved-listings.ts'
import { Spool } from '../../../src/content/spool/spool.ts'
import { silentLog } from '../../../src/log.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../../support/temporary-folder.ts'

let temporary: TemporaryFolder
let stateDir: string
beforeEach(async () => {
  temporary = await makeTemporaryFolder()
  stateDir = join(temporary.path, 'state')
})
afterEach(() => temporary.remove())

const isLog = (name: string): boolean => name === 'docmount.log'

/** As a drive leaves it, after `work` in its journal. */
function leave(work: (journal: Journal) => void = () => {}): void {
  const journal = new Journal(stateDir, realWorld())
  const spool = new Spool(join(stateDir, 'spool'), journal.contents, realWorld())
  new SavedListings(stateDir, silentLog, realWorld().clock).close()
  expect(spool.dir).toBe(join(stateDir, 'spool'))
  work(journal)
  journal.close()
}

it('goes where nothing was ever kept, with its log', async () => {
  leave()
  await writeFile(join(stateDir, 'docmount.log'), 'started')
  expect(removeEmptyState(stateDir, isLog)).toBe(true)
  expect(existsSync(stateDir)).toBe(false)
})

it.each<[string, (journal: Journal) => void]>([
  ['a folder made here', (journal) => journal.folders.save('/a')],
  [
    'a temporary file',
    (journal) => journal.localFiles.save({ path: '/a~', spool: undefined, reference: undefined }),
  ],
  [
    'a time set here',
    (journal) =>
      journal.attributes.save({
        path: '/a',
        fingerprint: 'f',
        mode: 0o600,
        atime: undefined,
        mtime: undefined,
      }),
  ],
])('stays where the journal holds %s', (_what, work) => {
  leave(work)
  expect(removeEmptyState(stateDir, isLog)).toBe(false)
  expect(existsSync(join(stateDir, 'journal.db'))).toBe(true)
})

it.each(['spool/content', 'lost+found/day', 'journal.db.damaged-2026', 'what is this'])(
  'stays where there is %s',
  async (name) => {
    leave()
    await mkdir(join(stateDir, 'lost+found'))
    await writeFile(join(stateDir, name), 'x')
    expect(removeEmptyState(stateDir, isLog)).toBe(false)
    expect(existsSync(join(stateDir, name))).toBe(true)
  },
)

it('stays where a listing was saved: with it a drive starts while the service is away', () => {
  leave()
  const listings = new SavedListings(stateDir, silentLog, realWorld().clock)
  listings.save('/', new Map())
  listings.close()
  expect(removeEmptyState(stateDir, isLog)).toBe(false)
})

it('stays while a drive has it, and is whole when another takes it up', () => {
  const journal = new Journal(stateDir, realWorld())
  expect(removeEmptyState(stateDir, isLog)).toBe(false)
  journal.close()
  expect(removeEmptyState(stateDir, isLog)).toBe(true)
  const next = new Journal(stateDir, realWorld())
  next.folders.save('/a')
  next.close()
  expect(removeEmptyState(stateDir, isLog)).toBe(false)
})
