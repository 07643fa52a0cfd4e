// A listing that is requested right after a restart may lag behind what was changed before: it neither hides nor brings that back.

import { join } from 'node:path'
import Database from 'libsql'
import { describe, expect, it } from 'vitest'
import { realWorld } from '../../../src/world/world.ts'
import { freeze, tick } from '../../support/lagging.ts'
import { openHeld, type HeldDrive } from '../../support/open-held.ts'
import { driveTree, serviceTexts } from '../../support/trees.ts'
import { waitUntil } from '../../support/wait-until.ts'

const hourMs = 3_600_000
const before = { '/d/a.txt': 'a', '/d/b.txt': 'b', '/e/c.txt': 'c', '/e/in/d.txt': 'd' }

interface Change {
  readonly what: string
  readonly act: (drive: HeldDrive) => Promise<void>
}

const changes: readonly Change[] = [
  { what: 'a document saved over', act: ({ calls }) => calls().writeFile('/d/a.txt', 'newer') },
  { what: 'a new document', act: ({ calls }) => calls().writeFile('/d/new.txt', 'new') },
  { what: 'a deleted document', act: ({ calls }) => calls().unlink('/d/a.txt') },
  { what: 'a renamed document', act: ({ calls }) => calls().rename('/d/a.txt', '/d/z.txt') },
  { what: 'a document renamed over another', act: ({ calls }) => calls().rename('/d/a.txt', '/d/b.txt') },
  { what: 'a document moved to another folder', act: ({ calls }) => calls().rename('/d/a.txt', '/e/a.txt') },
  { what: 'a renamed folder', act: ({ calls }) => calls().rename('/e', '/f') },
  {
    what: 'a new folder',
    async act({ calls }) {
      await calls().mkdir('/g')
      await calls().mkdir('/g/in')
      await calls().writeFile('/g/in/new.txt', 'new')
    },
  },
  {
    what: 'a removed folder',
    async act(drive) {
      await drive.calls().unlink('/e/in/d.txt')
      await drive.drain()
      await drive.calls().rmdir('/e/in')
    },
  },
]

/** Everything that the drive shows. */
async function shown({ calls }: HeldDrive): Promise<Record<string, string | undefined>> {
  const tree = await driveTree(calls(), '')
  return Object.fromEntries([...tree].map(([path, content]) => [path, content?.toString()]))
}

async function lookEverywhere({ calls }: HeldDrive): Promise<void> {
  for (const folder of ['/', '/d', '/e', '/e/in']) await calls().readdir(folder)
}

/** A world whose clocks a test sets. */
function settable(): { world: ReturnType<typeof realWorld>; set: { wallMs: number; steadyMs: number } } {
  const world = realWorld()
  const set = { wallMs: 0, steadyMs: 0 }
  const clock = {
    ...world.clock,
    wall: () => world.clock.wall() + set.wallMs,
    steady: () => world.clock.steady() + set.steadyMs,
  }
  return { world: { ...world, clock }, set }
}

describe.each(changes)('$what is so after a restart', ({ act }) => {
  it.each(['kill', 'kill before anything was listed', 'unmount'])('a %s', async (how) => {
    await using drive = await openHeld(before)
    if (how !== 'kill before anything was listed') await lookEverywhere(drive)
    await tick()
    const past = freeze(drive)
    await tick()
    await act(drive)
    await drive.drain()
    if (how === 'unmount') await drive.restart()
    else await drive.restartKilled()
    past.on()
    const after = await shown(drive)
    past.thaw()
    expect(after).toEqual(await serviceTexts(drive.testService.other))
  })

  it('where a listing that lags was saved last', async () => {
    await using drive = await openHeld(before)
    await lookEverywhere(drive)
    await tick()
    const past = freeze(drive)
    await tick()
    await act(drive)
    await drive.drain()
    past.on()
    await drive.fileSystem().refresh('/')
    await shown(drive)
    // Its end writes them.
    await drive.restart()
    await drive.restartKilled()
    const after = await shown(drive)
    past.thaw()
    expect(after).toEqual(await serviceTexts(drive.testService.other))
  })

  it('by a clock that was set back meanwhile', async () => {
    const { world, set } = settable()
    await using drive = await openHeld(before, { world })
    await lookEverywhere(drive)
    await tick()
    const past = freeze(drive)
    await tick()
    await act(drive)
    await drive.drain()
    set.wallMs = -hourMs
    await drive.restartKilled()
    past.on()
    const after = await shown(drive)
    past.thaw()
    expect(after).toEqual(await serviceTexts(drive.testService.other))
  })
})

it('a document that was written again and not closed is as it was stored', async () => {
  await using drive = await openHeld({ '/d/a.txt': 'a' })
  await drive.calls().readdir('/d')
  await drive.testService.other.put('/d/theirs.txt', 'theirs')
  await tick()
  const past = freeze(drive)
  await tick()
  await drive.calls().writeFile('/d/a.txt', 'stored')
  await drive.drain()
  const file = await drive.calls().open('/d/a.txt', 'r+')
  await file.write('never closed', 0)
  past.on()
  await drive.fileSystem().refresh('/d')
  const listings = new Database(join(drive.stateDir(), 'listings.db'), { readonly: true })
  await waitUntil('the listing to be saved', () => {
    const row = listings.prepare("select names from listing where path = '/d'").get()
    return (row as { names: string } | undefined)?.names.includes('theirs.txt')
  })
  listings.close()
  // The drive that is killed would send it.
  drive.hold('/d/a.txt')
  await drive.restartKilled()
  const after = await shown(drive)
  past.thaw()
  expect(after).toEqual({ '/d': undefined, '/d/a.txt': 'stored', '/d/theirs.txt': 'theirs' })
})

describe('another client', () => {
  it('that stored after us shows at once', async () => {
    await using drive = await openHeld(before)
    await lookEverywhere(drive)
    await drive.calls().writeFile('/d/a.txt', 'ours')
    await drive.calls().unlink('/d/b.txt')
    await drive.calls().rename('/e/c.txt', '/e/z.txt')
    await drive.drain()
    await tick()
    for (const path of ['/d/a.txt', '/e/z.txt']) await drive.testService.other.delete(path)
    for (const path of ['/d/a.txt', '/d/b.txt', '/e/c.txt', '/e/z.txt', '/d/new.txt'])
      await drive.testService.other.put(path, `theirs at ${path}`)
    await drive.restartKilled()
    expect(await shown(drive)).toEqual(await serviceTexts(drive.testService.other))
  })

  it('that took away or brought back what we changed shows one cache lifetime later', async () => {
    const { world, set } = settable()
    await using drive = await openHeld(before, { world })
    await lookEverywhere(drive)
    const past = freeze(drive)
    await drive.calls().writeFile('/d/a.txt', 'ours')
    await drive.calls().writeFile('/d/new.txt', 'ours')
    await drive.calls().unlink('/e/in/d.txt')
    await drive.drain()
    for (const path of ['/d/a.txt', '/d/new.txt']) await drive.testService.other.delete(path)
    await drive.restartKilled()
    past.on()
    expect(Object.keys(await shown(drive)).toSorted()).toEqual(
      ['/d', '/d/a.txt', '/d/b.txt', '/d/new.txt', '/e', '/e/c.txt', '/e/in'].toSorted(),
    )
    past.thaw()
    set.steadyMs = hourMs
    expect(await shown(drive)).toEqual(await serviceTexts(drive.testService.other))
  })

  it('shows after a restart that comes later than that', async () => {
    const { world, set } = settable()
    await using drive = await openHeld(before, { world })
    await lookEverywhere(drive)
    await drive.calls().writeFile('/d/a.txt', 'ours')
    await drive.drain()
    await drive.testService.other.delete('/d/a.txt')
    set.steadyMs = hourMs
    set.wallMs = hourMs
    await drive.restartKilled()
    expect(await shown(drive)).toEqual(await serviceTexts(drive.testService.other))
  })
})

it('a change that is unsent decides, whatever the service agreed to before it', async () => {
  await using drive = await openHeld(before)
  await lookEverywhere(drive)
  const past = freeze(drive)
  await tick()
  await drive.calls().writeFile('/d/a.txt', 'stored')
  await drive.calls().writeFile('/d/b.txt', 'stored, too')
  await drive.calls().writeFile('/e/in/new.txt', 'new')
  await drive.calls().unlink('/e/c.txt')
  await drive.drain()
  const paths = ['/d/a.txt', '/d/z.txt', '/e/c.txt', '/f/in/new.txt', '/f/in/d.txt', '/f/c.txt']
  drive.hold(...paths)
  drive.holdDelete('/d/b.txt')
  await drive.calls().rename('/d/a.txt', '/d/z.txt')
  await drive.calls().writeFile('/d/a.txt', 'again')
  await drive.calls().unlink('/d/b.txt')
  await drive.calls().writeFile('/e/c.txt', 'anew')
  await drive.calls().rename('/e', '/f')
  const then = await shown(drive)
  await drive.restartKilled()
  past.on()
  expect(await shown(drive)).toEqual(then)
  past.thaw()
  drive.release()
  await drive.drain()
  expect(await shown(drive)).toEqual(then)
  expect(await serviceTexts(drive.testService.other)).toEqual(then)
})
