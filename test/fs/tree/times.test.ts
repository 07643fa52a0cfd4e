// Times that the service has no place for: what a restart leaves of them, and a folder nobody looked at for a while.

import { describe, expect, it } from 'vitest'

import { FolderTimes } from '../../../src/fs/tree/folder-times.ts'
import { Node } from '../../../src/fs/tree/node.ts'
import type { Calls } from '../../support/door.ts'
import { openHeld, type HeldDrive } from '../../support/open-held.ts'
import { waitUntil } from '../../support/wait-until.ts'

/** 2001-02-03 04:05:06 UTC. */
const longAgoSec = 981_173_106
const nanoseconds = 1_000_000_000n

describe('after a restart', () => {
  it('times that were set on a document are told, each for itself', async () => {
    await using drive = await openHeld({ '/a.txt': 'a', '/b.txt': 'b' })
    await drive.calls().utimes('/a.txt', longAgoSec, longAgoSec + 60)
    await drive.restart()
    expect(await drive.calls().stat('/a.txt')).toMatchObject({
      atimeNs: BigInt(longAgoSec) * nanoseconds,
      mtimeNs: BigInt(longAgoSec + 60) * nanoseconds,
    })
  })

  it('times that were set on a document are told, also where listings tell no size', async () => {
    await using drive = await openHeld()
    const { service } = drive.testService
    service.faults.inject({ kind: 'omit-fields', fields: ['size'] }, { method: 'GET', path: '/' })
    await drive.calls().writeFile('/a.txt', 'a')
    await drive.drain()
    await drive.calls().utimes('/a.txt', longAgoSec, longAgoSec)
    await drive.restart()
    expect(await drive.calls().stat('/a.txt')).toMatchObject(longAgo)
    await drive.testService.other.delete('/a.txt')
    await drive.testService.other.put('/a.txt', 'another')
    await drive.fileSystem().refresh('/')
    expect((await drive.calls().stat('/a.txt')).mtimeNs).not.toBe(longAgo.mtimeNs)
  })

  const longAgo = { mtimeNs: BigInt(longAgoSec) * nanoseconds }
  /** Changes made while nothing is sent; each leaves its document at `/new.txt`, with that time and mode. */
  const unsent: Readonly<Record<string, (calls: Calls) => Promise<void>>> = {
    'a new document': async (calls) => {
      await calls.writeFile('/new.txt', 'new')
      await calls.utimes('/new.txt', longAgoSec, longAgoSec)
      await calls.chmod('/new.txt', 0o600)
    },
    'one that was set while it was open': async (calls) => {
      const file = await calls.open('/new.txt', 'w')
      await file.write('new', 0)
      await calls.utimes('/new.txt', longAgoSec, longAgoSec)
      await calls.chmod('/new.txt', 0o600)
      await file.close()
    },
    'a save over': async (calls) => {
      await calls.writeFile('/new.txt', 'first')
      await calls.writeFile('/new.txt', 'new')
      await calls.chmod('/new.txt', 0o600)
      await calls.utimes('/new.txt', longAgoSec, longAgoSec)
    },
    'one that was renamed since': async (calls) => {
      await calls.writeFile('/first.txt', 'new')
      await calls.utimes('/first.txt', longAgoSec, longAgoSec)
      await calls.chmod('/first.txt', 0o600)
      await calls.rename('/first.txt', '/new.txt')
    },
    'one that took the place of another': async (calls) => {
      await calls.writeFile('/new.txt', 'first')
      await calls.writeFile('/first.txt', 'new')
      await calls.utimes('/first.txt', longAgoSec, longAgoSec)
      await calls.chmod('/first.txt', 0o600)
      await calls.rename('/first.txt', '/new.txt')
    },
    'one whose folder was renamed': async (calls) => {
      await calls.mkdir('/d')
      await calls.writeFile('/d/new.txt', 'new')
      await calls.utimes('/d/new.txt', longAgoSec, longAgoSec)
      await calls.chmod('/d/new.txt', 0o600)
      await calls.rename('/d', '/e')
      await calls.rename('/e/new.txt', '/new.txt')
    },
    'a rename of one that is in the service': async (calls) => {
      await calls.utimes('/a.txt', longAgoSec, longAgoSec)
      await calls.chmod('/a.txt', 0o600)
      await calls.rename('/a.txt', '/new.txt')
    },
    'a rename and back': async (calls) => {
      await calls.writeFile('/new.txt', 'new')
      await calls.utimes('/new.txt', longAgoSec, longAgoSec)
      await calls.chmod('/new.txt', 0o600)
      await calls.rename('/new.txt', '/first.txt')
      await calls.rename('/first.txt', '/new.txt')
    },
    'one under a name that another has left': async (calls) => {
      await calls.rename('/b.txt', '/new.txt')
      await calls.rename('/new.txt', '/c.txt')
      await calls.writeFile('/new.txt', 'new')
      await calls.utimes('/new.txt', longAgoSec, longAgoSec)
      await calls.chmod('/new.txt', 0o600)
    },
  }
  for (const [what, work] of Object.entries(unsent)) {
    it(`times and mode that were set on what is unsent are told, before and after it is sent: ${what}`, async () => {
      await using drive = await openHeld({ '/a.txt': 'a', '/b.txt': 'b' })
      const shown = async (): Promise<unknown> => {
        const { mode, mtimeNs } = await drive.calls().stat('/new.txt')
        return { mode: mode & 0o777, mtimeNs }
      }
      const asSet = { ...longAgo, mode: 0o600 }
      drive.hold('/new.txt', '/first.txt', '/d/new.txt', '/e/new.txt', '/c.txt')
      await drive.calls().readdir('/')
      await work(drive.calls())
      expect(await shown()).toEqual(asSet)
      await drive.restart()
      expect(await shown()).toEqual(asSet)
      drive.release()
      await drive.drain()
      expect(await shown()).toEqual(asSet)
      await drive.restart()
      expect(await shown()).toEqual(asSet)
    })
  }

  describe('what was set on what is moved on while it is on its way', () => {
    const asSet = { ...longAgo, mode: 0o600 }
    const setOn = async (calls: Calls, path: string): Promise<void> => {
      await calls.utimes(path, longAgoSec, longAgoSec)
      await calls.chmod(path, 0o600)
    }
    const shown = async (drive: HeldDrive, path = '/new.txt'): Promise<unknown> => {
      const { mode, mtimeNs } = await drive.calls().stat(path)
      return { mode: mode & 0o777, mtimeNs }
    }

    it.each([
      ['it has come to the first place, which nobody had seen there when it was set', false],
      ['the first place is refused, and it goes straight to the other', true],
    ])('is told when %s', async (_when, isRefused) => {
      await using drive = await openHeld({ '/a.txt': 'a' })
      drive.hold('/first.txt', '/new.txt')
      const { faults } = drive.testService.service
      await drive.calls().rename('/a.txt', '/first.txt')
      await drive.reached('/first.txt')
      await drive.calls().rename('/first.txt', '/new.txt')
      await setOn(drive.calls(), '/new.txt')
      if (isRefused) faults.inject({ kind: 'status', status: 422 }, { method: 'PUT', path: '/first.txt' })
      drive.release('/first.txt')
      await drive.reached('/new.txt')
      await drive.restart()
      expect(await shown(drive)).toEqual(asSet)
      drive.release()
      await drive.drain()
      expect(await shown(drive)).toEqual(asSet)
    })

    it('is told when the first place is refused on the way back', async () => {
      await using drive = await openHeld({ '/new.txt': 'new' })
      drive.hold('/first.txt')
      await drive.calls().rename('/new.txt', '/first.txt')
      await drive.reached('/first.txt')
      await drive.calls().rename('/first.txt', '/new.txt')
      await setOn(drive.calls(), '/new.txt')
      const { faults } = drive.testService.service
      faults.inject({ kind: 'status', status: 422 }, { method: 'PUT', path: '/first.txt' })
      drive.release()
      await drive.drain()
      await drive.restart()
      expect(await shown(drive)).toEqual(asSet)
    })

    it('is told when it comes to its place while it is written again', async () => {
      await using drive = await openHeld({ '/a.txt': 'new' })
      drive.hold('/new.txt')
      await drive.calls().rename('/a.txt', '/new.txt')
      await setOn(drive.calls(), '/new.txt')
      await drive.reached('/new.txt')
      const file = await drive.calls().open('/new.txt', 'r+')
      await file.write('N', 0)
      drive.release()
      await waitUntil('it to be there', () => drive.fileSystem().unsent('/').length === 0)
      await drive.restart()
      expect((await drive.calls().readFile('/new.txt')).toString()).toBe('new')
      expect(await shown(drive)).toEqual(asSet)
    })

    const before: Readonly<Record<string, (drive: HeldDrive) => Promise<void>>> = {
      'saved and not sent': (drive) => drive.calls().writeFile('/d/first.txt', 'new'),
      'in the service': (drive) => drive.testService.other.put('/d/first.txt', 'new'),
    }
    for (const [what, work] of Object.entries(before))
      for (const [from, to] of [
        ['/d/first.txt', '/d/new.txt'],
        ['/d', '/e'],
      ] as const)
        it(`is told of what was ${what} before it is written again: ${from} is renamed meanwhile`, async () => {
          await using drive = await openHeld({ '/d/a.txt': 'a' })
          drive.hold('/d/first.txt', '/d/new.txt', '/e/first.txt')
          await work(drive)
          await setOn(drive.calls(), '/d/first.txt')
          const file = await drive.calls().open('/d/first.txt', 'r+')
          await file.write('N', 0)
          await drive.calls().rename(from, to)
          await drive.restart()
          const place = to === '/e' ? '/e/first.txt' : to
          expect((await drive.calls().readFile(place)).toString()).toBe('new')
          expect(await shown(drive, place)).toEqual(asSet)
        })

    it('is not told of what takes its place, on which nothing was set', async () => {
      await using drive = await openHeld({ '/a.txt': 'a' })
      drive.hold('/new.txt')
      const { mtimeNs } = await drive.calls().stat('/a.txt')
      await drive.calls().writeFile('/new.txt', 'new')
      await setOn(drive.calls(), '/new.txt')
      await drive.calls().rename('/a.txt', '/new.txt')
      await drive.restart()
      expect(await shown(drive)).toEqual({ mode: 0o644, mtimeNs })
    })

    it('is told when the answer to who asked for its size comes later', async () => {
      await using drive = await openHeld({ '/d/a.txt': 'a' })
      const { service } = drive.testService
      service.faults.inject({ kind: 'omit-fields', fields: ['size'] }, { method: 'GET', path: '/d' })
      service.faults.inject({ kind: 'latency', ms: 1_000 }, { method: 'GET', path: '/d/a.txt', times: 1 })
      drive.hold('/new.txt')
      await drive.calls().readdir('/d')
      const asked = drive.calls().stat('/d/a.txt')
      await waitUntil('the question', () => service.calls.at(-1)?.path === '/d/a.txt')
      await drive.calls().rename('/d/a.txt', '/new.txt')
      await setOn(drive.calls(), '/new.txt')
      // Its name stands for nothing by then.
      await expect(asked).rejects.toMatchObject({ code: 'ENOENT' })
      expect(await shown(drive)).toEqual(asSet)
    })
  })

  it('a document that was sent, renamed and renamed back keeps what was set', async () => {
    await using drive = await openHeld({ '/a.txt': 'a' })
    await drive.calls().utimes('/a.txt', longAgoSec, longAgoSec)
    drive.hold('/b.txt')
    await drive.calls().rename('/a.txt', '/b.txt')
    await drive.calls().rename('/b.txt', '/a.txt')
    await drive.restart()
    expect(await drive.calls().stat('/a.txt')).toMatchObject({ mtimeNs: longAgo.mtimeNs })
    drive.release()
    await drive.drain()
    expect(await drive.calls().stat('/a.txt')).toMatchObject({ mtimeNs: longAgo.mtimeNs })
  })

  it('unsent content shows the time it was written', async () => {
    await using drive = await openHeld({ '/a.txt': 'a' })
    drive.hold('/a.txt')
    await drive.calls().writeFile('/a.txt', 'new')
    const before = await drive.calls().stat('/a.txt')
    await drive.restart()
    expect((await drive.calls().stat('/a.txt')).mtimeNs).toBe(before.mtimeNs)
    drive.release()
    await drive.drain()
  })

  it('a folder’s time is no earlier than what was shown before', async () => {
    await using drive = await openHeld({ '/d/a.txt': 'a' })
    await drive.calls().writeFile('/d/b.txt', 'b')
    const before = await drive.calls().stat('/d')
    await drive.restart()
    expect((await drive.calls().stat('/d')).mtimeNs).toBeGreaterThanOrEqual(before.mtimeNs)
  })
})

describe('the times of folders without a node', () => {
  const root = new Node(1, 'folder', undefined, '')
  const folder = (name: string): Node => new Node(2, 'folder', root, name)

  it('are told again', () => {
    const times = new FolderTimes()
    const node = folder('d')
    times.changed(node, 1_500)
    times.left(node)
    const again = folder('d')
    times.recall(again)
    expect(again.times).toMatchObject({ mtime: { sec: 1, nsec: 5e8 }, ctime: { sec: 1, nsec: 5e8 } })
  })

  it('do not go back when there are too many to remember', () => {
    const times = new FolderTimes(1)
    for (const [name, ms] of [
      ['d', 5_000],
      ['e', 4_000],
    ] as const) {
      const node = folder(name)
      times.changed(node, ms)
      times.left(node)
    }
    const again = folder('d')
    times.recall(again)
    expect(again.times.mtime).toEqual({ sec: 5, nsec: 0 })
  })

  it('are not those of a folder that was removed', () => {
    const times = new FolderTimes()
    const node = folder('d')
    times.changed(node, 1_500)
    node.unlink()
    times.left(node)
    const again = folder('d')
    times.recall(again)
    expect(again.times.mtime).toBeUndefined()
  })
})
