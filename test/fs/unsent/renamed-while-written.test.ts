// A document is renamed while a program writes it: if the drive is killed before the close, what was there before stands under the
// new name, whole, from the first look on; if the close comes, what was written does.

import { describe, expect, it } from 'vitest'
import type { Calls, OpenFile } from '../../support/door.ts'
import { openHeld, type HeldDrive } from '../../support/open-held.ts'
import { serviceTexts } from '../../support/trees.ts'
import { waitUntil } from '../../support/wait-until.ts'

const before = 'what was saved before'
const longAgoSec = 1_000_000_000

/** Changes to it that a program has begun by then. */
const begun: Readonly<Record<string, (calls: Calls, path: string) => Promise<OpenFile>>> = {
  emptied: (calls, path) => calls.open(path, 'w'),
  async 'made longer'(calls, path) {
    const file = await calls.open(path, 'a')
    await file.write(', and more', before.length)
    return file
  },
  async 'cut short'(calls, path) {
    const file = await calls.open(path, 'r+')
    await file.truncate(4)
    return file
  },
}

const stored = ({ testService }: HeldDrive): Promise<Record<string, string | undefined>> =>
  serviceTexts(testService.other)

/** Killed; nothing comes to its place in the service until this was seen. */
async function restarted(drive: HeldDrive, path: string): Promise<Calls> {
  drive.hold(path)
  await drive.restartKilled()
  const calls = drive.calls()
  expect((await calls.stat(path)).size).toBe(before.length)
  expect((await calls.readFile(path)).toString()).toBe(before)
  return calls
}

async function expectBefore(drive: HeldDrive, path: string): Promise<void> {
  await restarted(drive, path)
  drive.release()
  await drive.drain()
  expect(await stored(drive)).toMatchObject({ [path]: before })
  expect((await drive.calls().readFile(path)).toString()).toBe(before)
}

describe('and the drive is killed', () => {
  it.each(Object.keys(begun))('before it was closed: %s', async (kind) => {
    await using drive = await openHeld({ '/a.txt': before })
    await begun[kind]?.(drive.calls(), '/a.txt')
    await drive.calls().rename('/a.txt', '/b.txt')
    await expectBefore(drive, '/b.txt')
    expect(await stored(drive)).toEqual({ '/b.txt': before })
  })

  it('what is appended then comes behind what was there before', async () => {
    await using drive = await openHeld({ '/a.txt': before })
    await drive.calls().open('/a.txt', 'w')
    await drive.calls().rename('/a.txt', '/b.txt')
    const calls = await restarted(drive, '/b.txt')
    const file = await calls.open('/b.txt', 'a')
    await file.write(', and more', before.length)
    await file.close()
    drive.release()
    await drive.drain()
    expect(await stored(drive)).toEqual({ '/b.txt': `${before}, and more` })
  })

  it.each<readonly [what: string, renames: readonly (readonly [from: string, to: string])[], path: string]>([
    ['over another', [['/d/a.txt', '/d/other.txt']], '/d/other.txt'],
    ['to a backup', [['/d/a.txt', '/d/a.txt~']], '/d/a.txt~'],
    ['twice', [['/d/a.txt', '/d/b.txt'], ['/d/b.txt', '/d/c.txt']], '/d/c.txt'],
    ['there and back', [['/d/a.txt', '/d/b.txt'], ['/d/b.txt', '/d/a.txt']], '/d/a.txt'],
    ['over another, and back', [['/d/a.txt', '/d/other.txt'], ['/d/other.txt', '/d/a.txt']], '/d/a.txt'],
    ['with its folder', [['/d', '/e']], '/e/a.txt'],
    ['with its folder, and back', [['/d', '/e'], ['/e', '/d']], '/d/a.txt'],
    ['itself, and with its folder, and back', [['/d/a.txt', '/e.txt'], ['/d', '/e'], ['/e.txt', '/e/a.txt'], ['/e', '/d']], '/d/a.txt'],
  ])('renamed %s', async (_what, renames, path) => {
    await using drive = await openHeld({ '/d/a.txt': before, '/d/other.txt': 'another' })
    await drive.calls().open('/d/a.txt', 'w')
    for (const [from, to] of renames) await drive.calls().rename(from, to)
    await expectBefore(drive, path)
  }) // prettier-ignore

  it('renamed there and back: it keeps the time that was set on it', async () => {
    await using drive = await openHeld({ '/a.txt': before })
    await drive.calls().utimes('/a.txt', longAgoSec, longAgoSec)
    await drive.calls().open('/a.txt', 'w')
    await drive.calls().rename('/a.txt', '/b.txt')
    await drive.calls().rename('/b.txt', '/a.txt')
    await restarted(drive, '/a.txt')
    expect((await drive.calls().stat('/a.txt')).mtimeNs).toBe(BigInt(longAgoSec) * 1_000_000_000n)
    expect(drive.fileSystem().unsent('/')).toEqual([])
  })

  it.each([
    ['alone', '/a.txt', '/b.txt', '/b.txt'],
    ['with its folder', '/d', '/e', '/e/a.txt'],
  ])(
    'open, and not written since it was saved: a time that is set then stays, renamed %s',
    async (_what, from, to, path) => {
      await using drive = await openHeld({ '/d/b.txt': 'b' })
      const saved = from === '/d' ? '/d/a.txt' : from
      drive.hold('/a.txt', '/b.txt', '/d/a.txt', '/e/a.txt', '/e/b.txt')
      await drive.calls().readdir('/d')
      await drive.calls().writeFile(saved, before)
      await drive.calls().open(saved, 'r+')
      await drive.calls().rename(from, to)
      await drive.calls().utimes(path, longAgoSec, longAgoSec)
      await drive.restartKilled()
      expect((await drive.calls().stat(path)).mtimeNs).toBe(BigInt(longAgoSec) * 1_000_000_000n)
      expect((await drive.calls().readFile(path)).toString()).toBe(before)
    },
  )

  it('after an earlier save that is still on its way: that shows, from here', async () => {
    await using drive = await openHeld({ '/a.txt': 'older' })
    drive.hold('/a.txt')
    await drive.calls().writeFile('/a.txt', before)
    await drive.reached('/a.txt')
    await drive.calls().open('/a.txt', 'w')
    await drive.calls().rename('/a.txt', '/b.txt')
    await expectBefore(drive, '/b.txt')
    expect(await stored(drive)).toEqual({ '/b.txt': before })
  })
})

describe('and closed', () => {
  it('what was written arrives, also where its folder is on its way there and back', async () => {
    await using drive = await openHeld({ '/d/a.txt': before })
    const calls = drive.calls()
    const file = await calls.open('/d/a.txt', 'w')
    await calls.rename('/d', '/e')
    await calls.rename('/e', '/d')
    await file.write('written', 0)
    await file.close()
    await drive.drain()
    expect(await stored(drive)).toEqual({ '/d': undefined, '/d/a.txt': 'written' })
  })

  it('what was written arrives, also behind a save whose answer was lost', async () => {
    await using drive = await openHeld()
    const calls = drive.calls()
    await calls.readdir('/')
    const { faults } = drive.testService.service
    faults.inject({ kind: 'lost-answer' }, { method: 'PUT', path: '/a.txt' })
    await calls.writeFile('/a.txt', before)
    const isStored = async (): Promise<boolean> =>
      (await drive.testService.other.get('/a.txt'))?.size === before.length
    await waitUntil('it to be stored', isStored)
    faults.inject({ kind: 'cut-request', afterBytes: 0 })
    await waitUntil('the service to be away', async () => drive.fileSystem().status().away !== undefined)
    const file = await calls.open('/a.txt', 'w')
    await calls.rename('/a.txt', '/b.txt')
    faults.clear()
    await file.write('written', 0)
    await file.close()
    await drive.drain()
    expect(await stored(drive)).toEqual({ '/b.txt': 'written' })
  })
})
