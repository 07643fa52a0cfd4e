// A name that a document only passes through on its way to where it was renamed to: what stands there for a moment is nobody's
// to see, whatever became of that name here.

import { expect, it } from 'vitest'

import { openHeld, type HeldDrive } from '../../support/open-held.ts'
import { freeze, tick } from '../../support/lagging.ts'
import { serviceTexts } from '../../support/trees.ts'

const held = ({ testService }: HeldDrive): Promise<Record<string, string | undefined>> =>
  serviceTexts(testService.other)

/**
 * `f` moves away, another document comes to its name, is written there and moves on before any of it is sent. Not sent yet: all of it.
 */
async function openPassing(): Promise<HeldDrive> {
  const drive = await openHeld({ '/f.txt': 'f', '/h.txt': 'h' })
  const calls = drive.calls()
  await calls.readdir('/')
  drive.hold('/g.txt')
  await calls.rename('/f.txt', '/g.txt')
  await drive.reached('/g.txt')
  await calls.rename('/h.txt', '/f.txt')
  await calls.writeFile('/f.txt', 'saved')
  await calls.rename('/f.txt', '/k.txt')
  return drive
}

/** Until `h` stands at the name. */
async function untilItPasses(drive: HeldDrive): Promise<void> {
  drive.release()
  drive.hold('/k.txt')
  await drive.reached('/k.txt')
  expect(await drive.testService.other.get('/f.txt')).toBeDefined()
  await drive.fileSystem().refresh('/')
}

it('is not shown where its name was taken away before', async () => {
  await using drive = await openPassing()
  await untilItPasses(drive)
  expect((await drive.calls().readdir('/')).sort()).toEqual(['g.txt', 'k.txt'])
  drive.release()
  await drive.drain()
  expect(await held(drive)).toEqual({ '/g.txt': 'f', '/k.txt': 'saved' })
})

it.each<readonly [how: string, use: (drive: HeldDrive) => Promise<void>]>([
  [
    'made there was deleted before it was closed',
    async (drive) => {
      const file = await drive.calls().open('/f.txt', 'wx')
      await drive.calls().unlink('/f.txt')
      await file.close()
    },
  ],
  [
    'saved there was deleted before it was sent',
    async (drive) => {
      await drive.calls().writeFile('/f.txt', 'again')
      await drive.calls().unlink('/f.txt')
    },
  ],
  [
    'made there was renamed before it was closed',
    async (drive) => {
      const file = await drive.calls().open('/f.txt', 'wx')
      await drive.calls().rename('/f.txt', '/l.txt')
      await file.close()
      await drive.calls().unlink('/l.txt')
    },
  ],
  [
    'saved there was renamed before it was sent',
    async (drive) => {
      await drive.calls().writeFile('/f.txt', 'again')
      await drive.calls().rename('/f.txt', '/l.txt')
      await drive.calls().unlink('/l.txt')
    },
  ],
])('is not shown where what was %s', async (_how, use) => {
  await using drive = await openPassing()
  await use(drive)
  expect((await drive.calls().readdir('/')).sort()).toEqual(['g.txt', 'k.txt'])
  await untilItPasses(drive)
  expect((await drive.calls().readdir('/')).sort()).toEqual(['g.txt', 'k.txt'])
  drive.release()
  await drive.drain()
  await drive.fileSystem().refresh('/')
  expect((await drive.calls().readdir('/')).sort()).toEqual(['g.txt', 'k.txt'])
  expect(await held(drive)).toEqual({ '/g.txt': 'f', '/k.txt': 'saved' })
})

const made = (drive: HeldDrive): Promise<void> => drive.calls().writeFile('/f.txt~', 'made')
const broughtHere = async (drive: HeldDrive): Promise<void> => {
  await drive.calls().writeFile('/.goutputstream-1', 'made')
  await drive.calls().rename('/.goutputstream-1', '/f.txt~')
}
const renamed = (drive: HeldDrive): Promise<void> => drive.calls().rename('/f.txt~', '/l.txt')
const deleted = (drive: HeldDrive): Promise<void> => drive.calls().unlink('/f.txt~')

it.each([
  ['made there under the name of a backup was renamed', made, renamed, ['l.txt']],
  ['made there under the name of a backup was deleted', made, deleted, []],
  ['brought there from here was deleted', broughtHere, deleted, []],
])('is not shown by a listing that lags, where what was %s', async (_how, make, use, also) => {
  await using drive = await openHeld({ '/f.txt': 'f', '/f.txt~': 'a backup' })
  const calls = drive.calls()
  await calls.readdir('/')
  drive.hold('/f.txt~')
  await calls.writeFile('/f.txt~', 'saved')
  await drive.reached('/f.txt~')
  await calls.rename('/f.txt~', '/k.txt')
  await make(drive)
  drive.release()
  drive.hold('/k.txt')
  await drive.reached('/k.txt')
  const past = freeze(drive)
  await tick()
  drive.release()
  await drive.drain()
  await use(drive)
  past.on()
  await drive.fileSystem().refresh('/')
  expect((await drive.calls().readdir('/')).sort()).toEqual(['f.txt', 'k.txt', ...also])
  past.thaw()
})

it('a folder made where another was renamed away shows nothing of that, also after a restart', async () => {
  await using drive = await openHeld({ '/d/e/f.txt': 'f' })
  await drive.calls().readdir('/d/e')
  drive.hold('/x/e/f.txt')
  await drive.calls().rename('/d', '/x')
  await drive.calls().mkdir('/d')
  expect(await drive.calls().readdir('/d')).toEqual([])
  await drive.restartKilled()
  expect(await drive.calls().readdir('/d')).toEqual([])
  drive.release()
  await drive.drain()
  await drive.fileSystem().refresh('/')
  expect(await drive.calls().readdir('/d')).toEqual([])
  expect(await held(drive)).toEqual({ '/x/e/f.txt': 'f' })
})

it('a folder that only held what was on its way to elsewhere is not left in the service', async () => {
  await using drive = await openHeld({ '/e/f.txt': 'f' })
  const calls = drive.calls()
  await calls.mkdir('/d')
  drive.hold('/d/e/f.txt')
  await calls.rename('/e', '/d/e')
  await drive.reached('/d/e/f.txt')
  await calls.rename('/d', '/x')
  drive.release()
  await drive.drain()
  expect(await held(drive)).toEqual({ '/x/e/f.txt': 'f' })
  expect(await drive.testService.other.get('/d')).toBeUndefined()
})

it.each([
  ['as it is', async () => {}],
  ['and is written to', (drive: HeldDrive) => drive.calls().writeFile('/a.txt/x.txt', 'written')],
])('a document that goes into a folder of its own former name arrives, %s', async (_how, use) => {
  await using drive = await openHeld({ '/a.txt': 'a' })
  const calls = drive.calls()
  await calls.readdir('/')
  await calls.rename('/a.txt', '/x.txt')
  await calls.mkdir('/a.txt')
  await calls.rename('/x.txt', '/a.txt/x.txt')
  await use(drive)
  const wanted = (await calls.readFile('/a.txt/x.txt')).toString()
  await drive.drain()
  expect(await held(drive)).toEqual({ '/a.txt/x.txt': wanted })
  await drive.fileSystem().refresh('/')
  expect(await calls.readdir('/')).toEqual(['a.txt'])
  expect((await calls.readFile('/a.txt/x.txt')).toString()).toBe(wanted)
})
