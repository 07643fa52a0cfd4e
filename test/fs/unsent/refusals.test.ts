// A refusal by the service blocks nothing: something newer takes its place, and people are told.

import { describe, expect, it } from 'vitest'
import { errnoOf } from '../../../src/fs/errno-of.ts'
import { openHeld, type HeldDrive } from '../../support/open-held.ts'
import { waitUntil } from '../../support/wait-until.ts'

async function held(drive: HeldDrive): Promise<Record<string, string>> {
  const documents = await drive.testService.other.documents('/')
  return Object.fromEntries([...(documents ?? [])].map(([path, bytes]) => [path, bytes.toString()]))
}

/** Resolves when the one unsent change at the path is refused. */
async function refusedAt(drive: HeldDrive, path: string): Promise<void> {
  await waitUntil(`${path} to be refused`, () =>
    drive
      .fileSystem()
      .unsent('/')
      .some((unsent) => unsent.path === path && unsent.state === 'refused'),
  )
}

async function sent(drive: HeldDrive, path: string): Promise<void> {
  await waitUntil(`${path} to be sent`, () => drive.fileSystem().unsent(path).length === 0)
}

it('a rename that is refused is not waited for at the end, nor is the folder that waits for it', async () => {
  await using drive = await openHeld({ '/p/a.txt': 'first', '/p/b.txt': 'second' })
  await drive.calls().readdir('/p')
  drive.hold('/pp/a.txt')
  await drive.calls().rename('/p', '/pp')
  await drive.testService.other.delete('/p/a.txt')
  drive.release()
  await refusedAt(drive, '/pp/a.txt')
  expect(await drive.fileSystem().drain({ timeoutMs: 600_000 })).toMatchObject([
    { path: '/pp/a.txt', action: 'rename', state: 'refused' },
    { path: '/p', action: 'delete', lastError: 'waits for /pp/a.txt, which is refused' },
  ])
  await drive.calls().unlink('/pp/a.txt')
  expect(await drive.fileSystem().drain({ timeoutMs: 600_000 })).toEqual([])
  expect(await held(drive)).toEqual({ 'pp/b.txt': 'second' })
})

/** A rename of a.txt to c.txt whose source another client deleted; `isRead`: its bytes are here. */
async function renameRefused({
  isRestarted,
  isRead = false,
}: {
  isRestarted: boolean
  isRead?: boolean
}): Promise<HeldDrive> {
  const drive = await openHeld({ '/a.txt': 'first' })
  await drive.calls().readdir('/')
  if (isRead) await drive.calls().readFile('/a.txt')
  drive.hold('/c.txt')
  await drive.calls().rename('/a.txt', '/c.txt')
  await drive.testService.other.delete('/a.txt')
  drive.release()
  await refusedAt(drive, '/c.txt')
  if (isRestarted) await drive.restart()
  return drive
}

describe.each([
  ['', false],
  [' and a restart', true],
])('a rename whose source another client deleted%s', (_, isRestarted) => {
  const refusedRename = (): Promise<HeldDrive> => renameRefused({ isRestarted })

  it('makes way for a save', async () => {
    await using drive = await refusedRename()
    await drive.calls().writeFile('/c.txt', 'second')
    await drive.drain()
    expect(await held(drive)).toEqual({ 'c.txt': 'second' })
    await drive.calls().writeFile('/c.txt', 'third')
    await drive.drain()
    expect(await held(drive)).toEqual({ 'c.txt': 'third' })
  })

  it('makes way for a delete', async () => {
    await using drive = await refusedRename()
    await drive.calls().unlink('/c.txt')
    await drive.drain()
    expect(drive.fileSystem().unsent('/')).toEqual([])
    expect(await drive.calls().readdir('/')).toEqual([])
  })

  it.each([
    [
      'a save',
      async (drive: HeldDrive) => drive.calls().writeFile('/c.txt', 'second'),
      { 'c.txt': 'second' },
    ],
    ['a delete', async (drive: HeldDrive) => drive.calls().unlink('/c.txt'), {}],
  ])('leaves what another client stored where it came from to it: %s', async (_, change, kept) => {
    await using drive = await refusedRename()
    await drive.testService.other.put('/a.txt', 'theirs, stored since')
    await change(drive)
    await drive.drain()
    expect(await held(drive)).toEqual({ 'a.txt': 'theirs, stored since', ...kept })
  })

  it('makes way for another document that takes its name', async () => {
    await using drive = await refusedRename()
    await drive.testService.other.put('/b.txt', 'another')
    await drive.fileSystem().refresh('/')
    await drive.calls().rename('/b.txt', '/c.txt')
    await drive.drain()
    expect(await held(drive)).toEqual({ 'c.txt': 'another' })
  })

  it('makes way for a new document where it came from, and does not take that away', async () => {
    await using drive = await refusedRename()
    await drive.calls().writeFile('/a.txt', 'second')
    await waitUntil('it to be sent', () => drive.fileSystem().unsent('/a.txt').length === 0)
    drive.fileSystem().retry('/')
    await refusedAt(drive, '/c.txt')
    await expect(drive.calls().readFile('/c.txt')).rejects.toMatchObject({ code: /ESTALE|ENOENT/ })
    await drive.calls().rename('/c.txt', '/e.txt')
    await refusedAt(drive, '/e.txt')
    await drive.calls().unlink('/e.txt')
    await drive.drain()
    expect(await held(drive)).toEqual({ 'a.txt': 'second' })
  })

  it('makes way for a new folder where it came from', async () => {
    await using drive = await refusedRename()
    await drive.calls().mkdir('/a.txt')
    await drive.calls().writeFile('/a.txt/new.txt', 'new')
    await sent(drive, '/a.txt/new.txt')
    expect(await held(drive)).toEqual({ 'a.txt/new.txt': 'new' })
    expect(drive.fileSystem().unsent('/')).toMatchObject([{ path: '/c.txt', state: 'refused' }])
  })

  it('is done when its source is back, and tried again', async () => {
    await using drive = await refusedRename()
    await drive.testService.other.put('/a.txt', 'again')
    expect(drive.fileSystem().retry('/c.txt')).toBe(1)
    await drive.drain()
    expect((await held(drive))['c.txt']).toBe('again')
  })
})

describe.each([
  ['', false],
  [' and a restart', true],
])(
  'a document renamed back over what was saved at its old name%s, and the first rename is refused',
  (_, isRestarted) => {
    /** `refuse`: what makes the first of the two renames end refused. */
    async function renamedBack(refuse: (drive: HeldDrive) => Promise<unknown>): Promise<HeldDrive> {
      const drive = await openHeld({ '/a.txt': 'first', '/c.txt': 'another' })
      await drive.calls().readdir('/')
      await drive.calls().readFile('/a.txt')
      drive.hold('/c.txt')
      await drive.calls().rename('/a.txt', '/c.txt')
      await drive.calls().writeFile('/a.txt', 'second')
      await drive.calls().rename('/c.txt', '/a.txt')
      await refuse(drive)
      if (isRestarted) await drive.restart()
      drive.release()
      await waitUntil('all to be sent', () => drive.fileSystem().unsent('/').length === 0)
      return drive
    }

    it('what another client deleted is not shown for ever', async () => {
      await using drive = await renamedBack((given) => given.testService.other.delete('/a.txt'))
      await drive.fileSystem().refresh('/')
      expect(await drive.calls().readdir('/')).toEqual(Object.keys(await held(drive)))
      await expect(drive.calls().readFile('/a.txt')).rejects.toMatchObject({ code: 'ENOENT' })
    })

    it('what another client stores at the name between, from where it was renamed on, shows', async () => {
      await using drive = await openHeld({ '/a.txt': 'first' })
      await drive.calls().readdir('/')
      drive.hold('/c.txt')
      await drive.calls().rename('/a.txt', '/c.txt')
      await drive.calls().writeFile('/a.txt', 'second')
      await drive.calls().rename('/c.txt', '/e.txt')
      await drive.testService.other.delete('/a.txt')
      if (isRestarted) await drive.restart()
      drive.release()
      await refusedAt(drive, '/e.txt')
      await sent(drive, '/a.txt')
      await drive.testService.other.put('/c.txt', 'theirs')
      await drive.fileSystem().refresh('/')
      expect((await drive.calls().readFile('/c.txt')).toString()).toBe('theirs')
    })

    it('is there, and what another client saves there shows', async () => {
      await using drive = await renamedBack(async ({ testService: { service } }) =>
        service.faults.inject({ kind: 'status', status: 400 }, { method: 'PUT', path: '/c.txt' }),
      )
      expect((await drive.calls().readFile('/a.txt')).toString()).toBe('first')
      expect(await held(drive)).toEqual({ 'a.txt': 'first' })
      expect(await drive.calls().readdir('/')).toEqual(['a.txt'])
      await drive.testService.other.put('/a.txt', 'theirs')
      await drive.fileSystem().refresh('/')
      expect((await drive.calls().readFile('/a.txt')).toString()).toBe('theirs')
      await drive.calls().writeFile('/a.txt', 'third')
      await drive.drain()
      expect(await held(drive)).toEqual({ 'a.txt': 'third' })
      expect(drive.fileSystem().status().conflicts).toBe(0)
    })
  },
)

describe.each([
  ['', false],
  [' and a restart', true],
])('a refused rename%s leaves its old name to what another client stores there since', (_, isRestarted) => {
  const refusedRename = ({ isRead = false } = {}): Promise<HeldDrive> =>
    renameRefused({ isRestarted, isRead })

  async function shown(drive: HeldDrive, ...names: string[]): Promise<void> {
    await waitUntil(`${names.join()} to show`, async () => {
      await drive.fileSystem().refresh('/')
      return (await drive.calls().readdir('/')).sort().join() === names.join()
    })
  }

  it('which shows, and is neither moved nor deleted by a retry', async () => {
    await using drive = await refusedRename()
    await drive.testService.other.put('/a.txt', 'theirs')
    await shown(drive, 'a.txt', 'c.txt')
    expect((await drive.calls().readFile('/a.txt')).toString()).toBe('theirs')
    if (isRestarted) await drive.restart()
    expect(drive.fileSystem().retry('/')).toBe(1)
    await refusedAt(drive, '/c.txt')
    expect(await held(drive)).toEqual({ 'a.txt': 'theirs' })
    expect((await drive.calls().readdir('/')).sort()).toEqual(['a.txt', 'c.txt'])
    await drive.calls().writeFile('/a.txt', 'ours over theirs')
    await drive.calls().unlink('/c.txt')
    await drive.drain()
    expect(await held(drive)).toEqual({ 'a.txt': 'ours over theirs' })
    expect(drive.fileSystem().status().conflicts).toBe(0)
  })

  it('what was renamed is kept, where this machine has its bytes, and retry sends it', async () => {
    await using drive = await refusedRename({ isRead: true })
    await drive.testService.other.put('/a.txt', 'theirs')
    await shown(drive, 'a.txt', 'c.txt')
    expect((await drive.calls().readFile('/c.txt')).toString()).toBe('first')
    drive.fileSystem().retry('/')
    await drive.drain()
    expect(await held(drive)).toEqual({ 'a.txt': 'theirs', 'c.txt': 'first' })
  })

  it('also a folder', async () => {
    await using drive = await refusedRename()
    await drive.testService.other.put('/a.txt/b.txt', 'theirs')
    await drive.fileSystem().refresh('/')
    await waitUntil('its source to be left', () => drive.fileSystem().unsent('/a.txt').length === 0)
    drive.fileSystem().retry('/')
    await refusedAt(drive, '/c.txt')
    expect(await held(drive)).toEqual({ 'a.txt/b.txt': 'theirs' })
  })

  it('and hides there the very version that it is to move, for as long as that stands there', async () => {
    await using drive = await openHeld({ '/a.txt': 'first' })
    await drive.calls().readdir('/')
    const { faults } = drive.testService.service
    faults.inject({ kind: 'status', status: 400 }, { method: 'PUT', path: '/c.txt' })
    await drive.calls().rename('/a.txt', '/c.txt')
    await refusedAt(drive, '/c.txt')
    if (isRestarted) await drive.restart()
    for (let look = 0; look < 3; look++) await drive.fileSystem().refresh('/')
    expect(await drive.calls().readdir('/')).toEqual(['c.txt'])
    faults.clear()
    drive.fileSystem().retry('/')
    await drive.drain()
    expect(await held(drive)).toEqual({ 'c.txt': 'first' })
  })

  describe('also of a save that was refused there', () => {
    /** A new document that an earlier run may have sent, and that is refused wherever it is to go. */
    async function renamedSave(): Promise<HeldDrive> {
      const drive = await openHeld()
      await drive.calls().readdir('/')
      drive.hold('/a.txt')
      await drive.calls().writeFile('/a.txt', 'first')
      await drive.restart()
      const { faults } = drive.testService.service
      for (const path of ['/a.txt', '/c.txt'])
        faults.inject({ kind: 'status', status: 400 }, { method: 'PUT', path })
      drive.release()
      await refusedAt(drive, '/a.txt')
      await drive.calls().rename('/a.txt', '/c.txt')
      await refusedAt(drive, '/c.txt')
      faults.clear()
      if (isRestarted) await drive.restart()
      return drive
    }

    it.each([
      ['which shows', '/a.txt'],
      ['a folder', '/a.txt/b.txt'],
    ])('%s', async (_kind, path) => {
      await using drive = await renamedSave()
      await drive.testService.other.put(path, 'theirs')
      await shown(drive, 'a.txt', 'c.txt')
      expect((await drive.calls().readFile(path)).toString()).toBe('theirs')
      if (isRestarted) await drive.restart()
      drive.fileSystem().retry('/')
      await drive.drain()
      expect(await held(drive)).toEqual({ [path.slice(1)]: 'theirs', 'c.txt': 'first' })
      expect(drive.fileSystem().status().conflicts).toBe(0)
    })

    it('and hides there what was sent after all, which is looked at once', async () => {
      await using drive = await renamedSave()
      const { service, other } = drive.testService
      // As the service stores it late.
      await other.put('/a.txt', 'first')
      service.clearCalls()
      const asked = (kind: string): number =>
        service.calls.filter(({ endpoint, path }) => endpoint === kind && path === '/a.txt').length
      for (let look = 1; look <= 3; look++) {
        await drive.fileSystem().refresh('/')
        expect(await drive.calls().readdir('/')).toEqual(['c.txt'])
        await waitUntil('the service to be asked', () => asked('files') >= look)
      }
      expect(asked('download')).toBe(1)
      drive.fileSystem().retry('/')
      await drive.drain()
      expect(await held(drive)).toEqual({ 'c.txt': 'first' })
    })
  })
})

describe.each([
  ['', false],
  [' and a restart', true],
])('renames one over another, whose sources another client deleted%s', (_, isRestarted) => {
  it('hold up no later save, and move nothing else in their place', async () => {
    await using drive = await openHeld({ '/a.txt': 'a', '/b.txt': 'b', '/seen.txt': 'seen' })
    await drive.calls().readdir('/')
    await drive.testService.other.delete('/a.txt')
    await drive.testService.other.delete('/b.txt')
    const calls = drive.calls()
    await calls.rename('/a.txt', '/seen.txt')
    await calls.rename('/seen.txt', '/c.txt')
    await calls.rename('/b.txt', '/seen.txt')
    await calls.writeFile('/b.txt', 'second')
    if (isRestarted) await drive.restart()
    await sent(drive, '/b.txt')
    await refusedAt(drive, '/c.txt')
    await refusedAt(drive, '/seen.txt')
    expect((await held(drive))['b.txt']).toBe('second')
    await drive.calls().writeFile('/seen.txt', 'third')
    await drive.calls().unlink('/c.txt')
    await drive.drain()
    expect(await held(drive)).toEqual({ 'b.txt': 'second', 'seen.txt': 'third' })
  })
})

describe.each([
  ['', false],
  [' and a restart', true],
])('a refused rename%s makes way for a new document where it came from', (_, isRestarted) => {
  async function refusedMove(): Promise<HeldDrive> {
    const drive = await openHeld({ '/a.txt': 'first' })
    await drive.calls().readdir('/')
    drive.testService.service.faults.inject(
      { kind: 'status', status: 400 },
      { method: 'PUT', path: '/c.txt' },
    )
    await drive.calls().rename('/a.txt', '/c.txt')
    await refusedAt(drive, '/c.txt')
    if (isRestarted) await drive.restart()
    return drive
  }

  it('and is kept here, until it is tried again', async () => {
    await using drive = await refusedMove()
    await drive.calls().writeFile('/a.txt', 'second')
    await sent(drive, '/a.txt')
    expect(await held(drive)).toEqual({ 'a.txt': 'second' })
    expect(drive.fileSystem().unsent('/')).toMatchObject([{ path: '/c.txt', state: 'refused', bytes: 5 }])
    expect((await drive.calls().readFile('/c.txt')).toString()).toBe('first')
    if (isRestarted) await drive.restart()
    expect((await drive.calls().readFile('/c.txt')).toString()).toBe('first')
    drive.testService.service.faults.clear()
    drive.fileSystem().retry('/')
    await drive.drain()
    expect(await held(drive)).toEqual({ 'a.txt': 'second', 'c.txt': 'first' })
    expect(drive.fileSystem().status().conflicts).toBe(0)
  })

  it('that stands in a folder of that name', async () => {
    await using drive = await refusedMove()
    await drive.calls().mkdir('/a.txt')
    await drive.calls().writeFile('/a.txt/new.txt', 'new')
    await sent(drive, '/a.txt')
    expect(await held(drive)).toEqual({ 'a.txt/new.txt': 'new' })
    expect(drive.fileSystem().unsent('/')).toMatchObject([{ path: '/c.txt', state: 'refused', bytes: 5 }])
    if (isRestarted) await drive.restart()
    expect((await drive.calls().readFile('/c.txt')).toString()).toBe('first')
    expect(await drive.calls().readdir('/a.txt')).toEqual(['new.txt'])
    drive.testService.service.faults.clear()
    drive.fileSystem().retry('/')
    await drive.drain()
    expect(await held(drive)).toEqual({ 'a.txt/new.txt': 'new', 'c.txt': 'first' })
    expect(drive.fileSystem().status().conflicts).toBe(0)
  })

  it('that stands in a folder of that name: what another client saved there stays', async () => {
    await using drive = await refusedMove()
    await drive.testService.other.put('/a.txt', 'theirs, stored since')
    await drive.calls().mkdir('/a.txt')
    await drive.calls().writeFile('/a.txt/new.txt', 'new')
    await refusedAt(drive, '/a.txt/new.txt')
    expect(await held(drive)).toEqual({ 'a.txt': 'theirs, stored since' })
  })

  it('that stands in a folder of that name, also where the service does not delete what was there', async () => {
    await using drive = await refusedMove()
    const { faults } = drive.testService.service
    faults.inject({ kind: 'status', status: 400 }, { method: 'DELETE', path: '/a.txt' })
    await drive.calls().mkdir('/a.txt')
    await drive.calls().writeFile('/a.txt/new.txt', 'new')
    await refusedAt(drive, '/a.txt/new.txt')
    expect((await drive.calls().readFile('/c.txt')).toString()).toBe('first')
  })

  it('that takes that name, and goes on under a third name', async () => {
    await using drive = await refusedMove()
    await drive.calls().writeFile('/b.txt', 'second')
    await drive.calls().rename('/b.txt', '/a.txt')
    await drive.calls().rename('/c.txt', '/e.txt')
    await drive.drain()
    expect(await held(drive)).toEqual({ 'a.txt': 'second', 'e.txt': 'first' })
  })

  it('that is deleted again', async () => {
    await using drive = await refusedMove()
    await drive.calls().writeFile('/a.txt', 'second')
    await drive.calls().unlink('/a.txt')
    await sent(drive, '/a.txt')
    expect(await held(drive)).toEqual({})
    expect((await drive.calls().readFile('/c.txt')).toString()).toBe('first')
    await drive.calls().writeFile('/d.txt', (await drive.calls().readFile('/c.txt')).toString())
    await drive.calls().unlink('/c.txt')
    await drive.drain()
    expect(await held(drive)).toEqual({ 'd.txt': 'first' })
  })
})

describe.each([
  ['', false],
  [' and a restart', true],
])('the end of a renamed folder that the service refuses%s', (_, isRestarted) => {
  async function refusedEnd(): Promise<HeldDrive> {
    const drive = await openHeld({ '/d/a.txt': 'a' })
    await drive.calls().readdir('/d')
    const { faults } = drive.testService.service
    faults.inject({ kind: 'status', status: 400 }, { method: 'DELETE', path: '/d' })
    await drive.calls().rename('/d', '/e')
    await refusedAt(drive, '/d')
    if (isRestarted) await drive.restart()
    return drive
  }

  it('makes way for a document in a new folder of that name', async () => {
    await using drive = await refusedEnd()
    if (!(await drive.calls().readdir('/')).includes('d')) await drive.calls().mkdir('/d')
    await drive.calls().writeFile('/d/new.txt', 'new')
    await drive.drain()
    expect(await held(drive)).toEqual({ 'd/new.txt': 'new', 'e/a.txt': 'a' })
    expect(drive.fileSystem().unsent('/')).toEqual([])
    expect(await drive.calls().readdir('/d')).toEqual(['new.txt'])
  })
})

describe.each([
  ['', false],
  [' and a restart', true],
])('a renamed folder of which a document is refused%s', (_, isRestarted) => {
  async function halfMoved(refuse: (drive: HeldDrive) => Promise<unknown>): Promise<HeldDrive> {
    const drive = await openHeld({ '/d/a.txt': 'a', '/d/b.txt': 'b' })
    await drive.calls().readdir('/d')
    drive.hold('/e/a.txt')
    await drive.calls().rename('/d', '/e')
    await refuse(drive)
    drive.release()
    await refusedAt(drive, '/e/a.txt')
    if (isRestarted) await drive.restart()
    return drive
  }

  it('makes way for what is saved in a new folder of that name: another client deleted the document', async () => {
    await using drive = await halfMoved((given) => given.testService.other.delete('/d/a.txt'))
    await drive.calls().mkdir('/d')
    await drive.calls().writeFile('/d/new.txt', 'new')
    await drive.calls().writeFile('/d/b.txt', 'another')
    await sent(drive, '/d')
    expect(await held(drive)).toEqual({ 'd/new.txt': 'new', 'd/b.txt': 'another', 'e/b.txt': 'b' })
    expect(drive.fileSystem().unsent('/')).toMatchObject([{ path: '/e/a.txt', state: 'refused' }])
  })

  it('makes way for what is saved in a new folder of that name: the service refused the copy', async () => {
    await using drive = await halfMoved(async ({ testService: { service } }) =>
      service.faults.inject({ kind: 'status', status: 400 }, { method: 'PUT', path: '/e/a.txt' }),
    )
    await drive.calls().mkdir('/d')
    await drive.calls().writeFile('/d/new.txt', 'new')
    await sent(drive, '/d')
    expect(await held(drive)).toEqual({ 'd/new.txt': 'new', 'e/b.txt': 'b' })
    expect(drive.fileSystem().unsent('/')).toMatchObject([{ path: '/e/a.txt', state: 'refused', bytes: 1 }])
    if (isRestarted) await drive.restart()
    expect((await drive.calls().readFile('/e/a.txt')).toString()).toBe('a')
    drive.testService.service.faults.clear()
    drive.fileSystem().retry('/')
    await drive.drain()
    expect(await held(drive)).toEqual({ 'd/new.txt': 'new', 'e/a.txt': 'a', 'e/b.txt': 'b' })
  })
})

describe('a save that the service refuses', () => {
  async function refusedSave(): Promise<HeldDrive> {
    const drive = await openHeld()
    await drive.calls().readdir('/')
    drive.testService.service.faults.inject(
      { kind: 'status', status: 413 },
      { method: 'PUT', path: '/a.txt' },
    )
    await drive.calls().writeFile('/a.txt', 'too much')
    await refusedAt(drive, '/a.txt')
    return drive
  }

  it('is renamed away, and arrives there', async () => {
    await using drive = await refusedSave()
    await drive.calls().rename('/a.txt', '/b.txt')
    await drive.drain()
    expect(await held(drive)).toEqual({ 'b.txt': 'too much' })
  })

  it('is renamed away after a restart, and arrives there', async () => {
    await using drive = await refusedSave()
    await drive.restart()
    await drive.calls().rename('/a.txt', '/b.txt')
    await drive.calls().rename('/b.txt', '/c.txt')
    await drive.drain()
    expect(await held(drive)).toEqual({ 'c.txt': 'too much' })
  })

  it('is what fsync, close and wait say, also after a restart', async () => {
    await using drive = await refusedSave()
    await drive.restart()
    const file = await drive.calls().open('/a.txt', 'r+')
    await expect(file.sync()).rejects.toMatchObject({ code: 'EFBIG' })
    await expect(file.close()).rejects.toMatchObject({ code: 'EFBIG' })
    const waited = await drive
      .fileSystem()
      .wait('/', { timeoutMs: 5_000 })
      .catch((error: unknown) => error)
    expect(errnoOf(waited)).toBe('EFBIG')
    expect(String(waited)).toMatch(/PUT \/a\.txt: 413/)
  })
})

describe('a version that was put back, for the save over it was refused', () => {
  async function putBack(): Promise<HeldDrive> {
    const drive = await openHeld({ '/a.txt': 'before' })
    await drive.calls().readFile('/a.txt')
    drive.testService.service.faults.inject({ kind: 'status', status: 413 }, { method: 'PUT', times: 1 })
    await drive.calls().writeFile('/a.txt', 'after')
    await refusedAt(drive, '/a.txt')
    expect(await held(drive)).toEqual({ 'a.txt': 'before' })
    return drive
  }

  it.each([
    ['renamed', (drive: HeldDrive) => drive.calls().rename('/a.txt', '/b.txt'), { 'b.txt': 'after' }],
    ['deleted', (drive: HeldDrive) => drive.calls().unlink('/a.txt'), {}],
    ['saved', (drive: HeldDrive) => drive.calls().writeFile('/a.txt', 'again'), { 'a.txt': 'again' }],
  ])('is the document: %s', async (_, change, expected) => {
    await using drive = await putBack()
    drive.hold('/b.txt')
    drive.holdDelete('/a.txt')
    await change(drive)
    await drive.fileSystem().refresh('/')
    expect(await drive.calls().readdir('/')).toEqual(Object.keys(expected))
    drive.release()
    await drive.drain()
    expect(await held(drive)).toEqual(expected)
    expect(await drive.calls().readdir('/')).toEqual(Object.keys(expected))
    expect(drive.fileSystem().status()).toMatchObject({ conflicts: 0 })
  })
})

it('a version that was put back, since the service did not take the save over it yet, is no other client’s', async () => {
  await using drive = await openHeld({ '/a.txt': 'before' })
  await drive.calls().readFile('/a.txt')
  drive.testService.service.faults.inject({ kind: 'status', status: 403 }, { method: 'PUT', times: 1 })
  await drive.calls().writeFile('/a.txt', 'after')
  await waitUntil(
    'it to wait',
    () => drive.fileSystem().unsent('/').at(0)?.lastError?.includes('403') === true,
  )
  await drive.calls().unlink('/a.txt')
  await drive.calls().writeFile('/a.txt', 'again')
  await drive.drain()
  expect(await held(drive)).toEqual({ 'a.txt': 'again' })
})

it('a document of which nothing is left takes along nothing that another client stored where it was', async () => {
  await using drive = await openHeld({ '/a.txt': 'first', '/c.txt': 'before', '/e.txt': 'e' })
  await drive.calls().readdir('/')
  drive.hold('/c.txt')
  await drive.calls().rename('/a.txt', '/c.txt')
  await drive.reached('/c.txt')
  await drive.restart()
  await drive.testService.other.delete('/a.txt')
  drive.release()
  await refusedAt(drive, '/c.txt')
  await drive.calls().writeFile('/a.txt', 'second')
  await sent(drive, '/a.txt')
  await drive.calls().rename('/c.txt', '/e.txt')
  await refusedAt(drive, '/e.txt')
  await drive.testService.other.put('/c.txt', 'theirs')
  await drive.calls().rename('/e.txt', '/f.txt')
  await refusedAt(drive, '/f.txt')
  await sent(drive, '/e.txt')
  expect(await held(drive)).toEqual({ 'a.txt': 'second', 'c.txt': 'theirs' })
})

describe('a delete that the service refuses', () => {
  async function refusedDelete(): Promise<HeldDrive> {
    const drive = await openHeld({ '/a.txt': 'a' })
    await drive.calls().readdir('/')
    const { faults } = drive.testService.service
    faults.inject({ kind: 'status', status: 400 }, { method: 'DELETE', times: 1 })
    await drive.calls().unlink('/a.txt')
    await refusedAt(drive, '/a.txt')
    return drive
  }

  it('is shown like a refused save, and so is the document; retry deletes it', async () => {
    await using drive = await refusedDelete()
    expect(await drive.calls().readdir('/')).toEqual(['a.txt'])
    expect(drive.fileSystem().unsent('/')).toMatchObject([
      { path: '/a.txt', action: 'delete', state: 'refused', lastError: /400/ },
    ])
    await drive.restart()
    expect(await drive.calls().readdir('/')).toEqual(['a.txt'])
    expect(drive.fileSystem().retry('/')).toBe(1)
    await drive.drain()
    expect(await drive.calls().readdir('/')).toEqual([])
    expect(await held(drive)).toEqual({})
  })

  it('is forgotten when the document is saved, and tried again when it is deleted again', async () => {
    await using drive = await refusedDelete()
    await drive.calls().writeFile('/a.txt', 'wanted')
    await drive.drain()
    expect(await held(drive)).toEqual({ 'a.txt': 'wanted' })
    drive.testService.service.faults.inject({ kind: 'status', status: 400 }, { method: 'DELETE', times: 1 })
    await drive.calls().unlink('/a.txt')
    await refusedAt(drive, '/a.txt')
    await drive.calls().unlink('/a.txt')
    await drive.drain()
    expect(await held(drive)).toEqual({})
  })

  it('does not hold up a rename of the document', async () => {
    await using drive = await refusedDelete()
    await drive.calls().rename('/a.txt', '/b.txt')
    await drive.drain()
    expect(await held(drive)).toEqual({ 'b.txt': 'a' })
  })
})

describe('what is no verdict on the document', () => {
  it('a 409 after our own DELETE, however long it lasts: the document arrives', async () => {
    await using drive = await openHeld({ '/a.txt': 'first' })
    await drive.calls().readdir('/')
    const { faults } = drive.testService.service
    faults.inject({ kind: 'status', status: 409 }, { method: 'PUT', path: '/a.txt', times: 7 })
    await drive.calls().writeFile('/a.txt', 'second')
    await drive.drain()
    expect(await held(drive)).toEqual({ 'a.txt': 'second' })
    expect(drive.fileSystem().status().conflicts).toBe(0)
  })

  it.each([401, 403])('a %d to a PUT waits, is told, and is tried again', async (status) => {
    await using drive = await openHeld()
    await drive.calls().readdir('/')
    const clear = drive.testService.service.faults.inject({ kind: 'status', status }, { method: 'PUT' })
    await drive.calls().writeFile('/a.txt', 'a')
    await waitUntil('an attempt to have failed', () =>
      drive
        .fileSystem()
        .unsent('/')
        .some(({ state, lastError }) => state === 'retrying' && lastError?.includes(String(status))),
    )
    clear()
    await drive.drain()
    expect(await held(drive)).toEqual({ 'a.txt': 'a' })
  })

  it('a service that has no copies by uri (501) renames by upload', async () => {
    await using drive = await openHeld({ '/a.txt': 'a' })
    await drive.calls().readdir('/')
    drive.testService.service.faults.inject(
      { kind: 'status', status: 501 },
      { method: 'PUT', path: '/b.txt', times: 1 },
    )
    await drive.calls().rename('/a.txt', '/b.txt')
    await drive.drain()
    expect(await held(drive)).toEqual({ 'b.txt': 'a' })
    expect(drive.fileSystem().unsent('/')).toEqual([])
  })
})

it('a close that waits says that nobody may, and the content is kept and tried again', async () => {
  await using drive = await openHeld({}, { closeWaitMs: 3_000 })
  await drive.calls().readdir('/')
  const clear = drive.testService.service.faults.inject({ kind: 'status', status: 403 }, { method: 'PUT' })
  await expect(drive.calls().writeFile('/a.txt', 'a')).rejects.toMatchObject({ code: 'EACCES' })
  clear()
  await drive.drain()
  expect(await held(drive)).toEqual({ 'a.txt': 'a' })
})

it('a link that expired while a save was looked after is no word on the save', async () => {
  await using drive = await openHeld({}, { closeWaitMs: 1_500 })
  await drive.calls().readdir('/')
  const { faults } = drive.testService.service
  // Stored, its answer lost: what stands there is looked at, by a link that has expired each time.
  faults.inject({ kind: 'lost-answer' }, { method: 'PUT', times: 1 })
  const clear = faults.inject({ kind: 'expired-url' }, { endpoint: 'download' })
  await drive.calls().writeFile('/a.txt', 'a')
  clear()
  await drive.drain()
  expect(await held(drive)).toEqual({ 'a.txt': 'a' })
})
