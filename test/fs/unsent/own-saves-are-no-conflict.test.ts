// Versions that the service has of this drive's earlier saves are told from another client's: none of our own is kept as theirs.

import { cpSync } from 'node:fs'
import { cp, rm } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'

import { expect, it } from 'vitest'
import { systemDisk } from '../../../src/world/disk.ts'
import { realWorld } from '../../../src/world/world.ts'
import { openHeld, type HeldDrive } from '../../support/open-held.ts'
import { makeTemporaryFolder } from '../../support/temporary-folder.ts'
import { waitUntil } from '../../support/wait-until.ts'

/** Ended with the answer still to come, which nobody hears any more; started again. */
async function killed(drive: HeldDrive): Promise<void> {
  const restarted = drive.restart()
  drive.release()
  await restarted
}

const large = (letter: string): string => letter.repeat(200_000)

it.each([
  ['small', 'first', 'second'],
  ['large', large('1'), large('2')],
])(
  'a save without its answer, a second one (%s) and a kill: the second stands alone',
  async (_size, first, second) => {
    await using drive = await openHeld()
    await drive.calls().readdir('/')
    drive.holdAnswer('/a.txt')
    await drive.calls().writeFile('/a.txt', first)
    await drive.reached('/a.txt')
    expect((await drive.testService.other.bytes('/a.txt')).toString()).toBe(first)
    await drive.calls().writeFile('/a.txt', second)
    await killed(drive)
    await drive.drain()
    expect(await drive.testService.other.documents('/')).toEqual(new Map([['a.txt', Buffer.from(second)]]))
  },
)

it('the same over a document that was there before', async () => {
  await using drive = await openHeld({ '/a.txt': 'older' })
  await drive.calls().readFile('/a.txt')
  drive.holdAnswer('/a.txt')
  await drive.calls().writeFile('/a.txt', 'first')
  await drive.reached('/a.txt')
  await drive.calls().writeFile('/a.txt', 'second')
  await killed(drive)
  await drive.drain()
  expect(await drive.testService.other.documents('/')).toEqual(new Map([['a.txt', Buffer.from('second')]]))
})

it('a new document, unsent, a kill, and its delete: what another client has stored there meanwhile stays', async () => {
  await using drive = await openHeld()
  await drive.calls().readdir('/')
  drive.hold('/a.txt')
  await drive.calls().writeFile('/a.txt', 'never sent')
  await drive.reached('/a.txt')
  await drive.restart()
  await drive.calls().unlink('/a.txt')
  await drive.testService.other.put('/a.txt', 'theirs')
  drive.release()
  await drive.drain()
  expect(await drive.testService.other.documents('/')).toEqual(new Map([['a.txt', Buffer.from('theirs')]]))
})

it('a new document, its answer lost, a kill, and its delete: it goes', async () => {
  await using drive = await openHeld()
  await drive.calls().readdir('/')
  drive.holdAnswer('/a.txt')
  await drive.calls().writeFile('/a.txt', 'sent')
  await drive.reached('/a.txt')
  await killed(drive)
  await drive.calls().unlink('/a.txt')
  await drive.drain()
  expect(await drive.testService.other.documents('/')).toEqual(new Map())
})

it.each(['/d', '/new'])(
  'a save in %s that has just arrived, a kill, and another while the service is away: no conflict copy of our own',
  async (folder) => {
    await using drive = await openHeld({ '/d/a.txt': 'older' })
    const path = `${folder}/a.txt`
    await drive.calls().readFile('/d/a.txt')
    // With what was listed.
    await drive.restart()
    await drive.calls().readFile('/d/a.txt')
    if (folder === '/new') await drive.calls().mkdir(folder)
    await drive.calls().writeFile(path, 'first')
    await drive.drain()
    // At once: what is listed is written a little later.
    await drive.restartKilled()
    await savedWhileAway(drive, folder)
  },
)

it('a document renamed away and back, and a kill: without the service it is where it is', async () => {
  await using drive = await openHeld({ '/d/a.txt': 'a' })
  await drive.calls().readdir('/d')
  await drive.calls().rename('/d/a.txt', '/d/a.txt~')
  // The listing is written a little later, without the document, whose rename rests for longer.
  await setTimeout(2_500)
  await drive.calls().rename('/d/a.txt~', '/d/a.txt')
  const { faults } = drive.testService.service
  const comesBack = faults.inject({ kind: 'cut-request', afterBytes: 0 })
  await drive.restartKilled()
  expect(await drive.calls().readdir('/d')).toEqual(['a.txt'])
  comesBack()
})

it('a save whose end was journaled at the moment of a kill, and another before the folder is listed: no conflict copy of our own', async () => {
  let stateDir = ''
  const copy = await makeTemporaryFolder()
  /** Content goes from the spool to the cache once its end is journaled: a kill in the midst of that. */
  const readSync: typeof systemDisk.readSync = (...call) => {
    if (stateDir !== '')
      cpSync(stateDir, copy.path, { recursive: true, filter: (path) => !/lock\.db|\.db-shm/.test(path) })
    return systemDisk.readSync(...call)
  }
  await using drive = await openHeld(
    { '/d/a.txt': 'older' },
    { world: { ...realWorld(), disk: { ...systemDisk, readSync } } },
  )
  await drive.calls().readFile('/d/a.txt')
  await drive.restart()
  await drive.calls().readdir('/d')
  await drive.calls().writeFile('/d/a.txt', 'first')
  stateDir = drive.stateDir()
  await drive.drain()
  stateDir = ''
  await drive.restart(async (dir) => {
    await rm(dir, { recursive: true })
    await cp(copy.path, dir, { recursive: true })
  })
  await copy.remove()
  await savedWhileAway(drive, '/d')
})

/** `a.txt` is replaced while the service is away, which gets that and nothing else. */
async function savedWhileAway(drive: HeldDrive, folder: string): Promise<void> {
  const path = `${folder}/a.txt`
  const comesBack = drive.testService.service.faults.inject({ kind: 'cut-request', afterBytes: 0 })
  await waitUntil('the service to be away', async () => {
    await drive.calls().stat(path)
    return drive.fileSystem().status().away !== undefined
  })
  await drive.calls().writeFile(`${folder}/.goutputstream-1`, 'second')
  await drive.calls().rename(`${folder}/.goutputstream-1`, path)
  comesBack()
  drive.release()
  await drive.drain()
  expect(await drive.testService.other.documents(folder)).toEqual(new Map([['a.txt', Buffer.from('second')]]))
}
