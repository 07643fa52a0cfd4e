// Changes made here lately: listings that lag behind, documents renamed while they are still on their way.

import { describe, expect, it } from 'vitest'

import { realWorld } from '../../../src/world/world.ts'
import { freeze, tick } from '../../support/lagging.ts'
import { openHeld, type HeldDrive } from '../../support/open-held.ts'
import { serviceTexts } from '../../support/trees.ts'
import { waitUntil } from '../../support/wait-until.ts'

const held = ({ testService }: HeldDrive): Promise<Record<string, string | undefined>> =>
  serviceTexts(testService.other)

describe('a listing older than one that was given before', () => {
  it('neither hides nor resurrects what was changed here', async () => {
    await using drive = await openHeld({ '/d/old.txt': 'old', '/d/both.txt': 'first' })
    await drive.calls().readdir('/d')
    const past = freeze(drive)
    await drive.calls().writeFile('/d/new.txt', 'new')
    await drive.calls().writeFile('/d/both.txt', 'second')
    await drive.calls().unlink('/d/old.txt')
    await drive.drain()
    await tick()
    await drive.fileSystem().refresh('/d')
    past.on()
    await drive.fileSystem().refresh('/d')
    expect((await drive.calls().readdir('/d')).sort()).toEqual(['both.txt', 'new.txt'])
    expect((await drive.calls().readFile('/d/both.txt')).toString()).toBe('second')
    past.thaw()
  })

  it('does not bring back what was deleted before its last save was known to be stored', async () => {
    await using drive = await openHeld({ '/d/f.txt': 'an older one' })
    await drive.calls().readdir('/d')
    const { faults } = drive.testService.service
    faults.inject({ kind: 'lost-answer' }, { method: 'PUT', path: '/d/f.txt' })
    await drive.calls().writeFile('/d/f.txt', 'saved')
    const isStored = async (): Promise<boolean> =>
      (await drive.testService.other.get('/d/f.txt'))?.size === 'saved'.length
    await waitUntil('it to be stored', isStored)
    faults.inject({ kind: 'cut-request', afterBytes: 0 })
    await waitUntil('the service to be away', () => drive.fileSystem().status().away !== undefined)
    await tick()
    const past = freeze(drive)
    await drive.calls().unlink('/d/f.txt')
    faults.clear()
    await drive.drain()
    past.on()
    await drive.fileSystem().refresh('/d')
    expect(await drive.calls().readdir('/d')).toEqual([])
    past.thaw()
  })

  it('leaves no document behind when its folder is renamed', async () => {
    await using drive = await openHeld({ '/d/old.txt': 'old' })
    await drive.calls().readdir('/d')
    const past = freeze(drive)
    await drive.calls().writeFile('/d/new.txt', 'new')
    await drive.drain()
    await tick()
    await drive.fileSystem().refresh('/d')
    past.on()
    await drive.calls().rename('/d', '/e')
    past.thaw()
    await drive.drain()
    expect(await held(drive)).toEqual({ '/e': undefined, '/e/old.txt': 'old', '/e/new.txt': 'new' })
  })

  it('does not keep a renamed folder from going', async () => {
    await using drive = await openHeld({ '/d/a.txt': 'a' })
    await drive.calls().readdir('/d')
    const past = freeze(drive)
    drive.hold('/e/a.txt')
    await drive.calls().rename('/d', '/e')
    await drive.reached('/e/a.txt')
    past.on()
    drive.release()
    await waitUntil('the move', async () => (await drive.testService.other.get('/e/a.txt')) !== undefined)
    drive.testService.service.clearCalls()
    const drained = drive.drain()
    await waitUntil('the folder to be looked into', () =>
      drive.testService.service.calls.some(({ method, path }) => method === 'GET' && path === '/d/a.txt'),
    )
    past.thaw()
    await drained
    expect(await held(drive)).toEqual({ '/e': undefined, '/e/a.txt': 'a' })
  })
})

describe('a folder made anew does not show what was taken away from the one before it', () => {
  it('where a listing lags behind', async () => {
    await using drive = await openHeld({ '/d/a.txt': 'a', '/d/sub/b.txt': 'b' })
    await drive.calls().readdir('/d/sub')
    const past = freeze(drive)
    await drive.calls().unlink('/d/a.txt')
    await drive.calls().unlink('/d/sub/b.txt')
    await drive.drain()
    await drive.calls().rmdir('/d/sub')
    await drive.calls().rmdir('/d')
    await drive.calls().mkdir('/d')
    await drive.calls().mkdir('/d/sub')
    past.on()
    await drive.fileSystem().refresh('/d/sub')
    await drive.fileSystem().refresh('/d')
    expect(await drive.calls().readdir('/d')).toEqual(['sub'])
    expect(await drive.calls().readdir('/d/sub')).toEqual([])
    past.thaw()
  })

  it('nor where a document had its name in between', async () => {
    await using drive = await openHeld({ '/d/a.txt': 'a' })
    await drive.calls().readdir('/d')
    const past = freeze(drive)
    await drive.calls().unlink('/d/a.txt')
    await drive.drain()
    await drive.calls().rmdir('/d')
    await drive.calls().writeFile('/d', 'a document')
    await drive.calls().rename('/d', '/e')
    await drive.calls().mkdir('/d')
    await drive.drain()
    past.on()
    await drive.fileSystem().refresh('/d')
    expect(await drive.calls().readdir('/d')).toEqual([])
    past.thaw()
  })

  it('nor where it was renamed, and its documents are on their way', async () => {
    await using drive = await openHeld({ '/d/a.txt': 'a', '/d/sub/b.txt': 'b' })
    await drive.calls().readdir('/d')
    drive.hold('/e/a.txt')
    drive.hold('/e/sub/b.txt')
    await drive.calls().rename('/d', '/e')
    await drive.calls().mkdir('/d')
    await drive.fileSystem().refresh('/d')
    expect(await drive.calls().readdir('/d')).toEqual([])
    drive.release()
    await drive.drain()
  })

  it('but all of it once it was renamed back, also when listings decide again', async () => {
    const world = realWorld()
    let aheadMs = 0
    const clock = { ...world.clock, steady: () => world.clock.steady() + aheadMs }
    await using drive = await openHeld(
      { '/d/a.txt': 'a', '/d/sub/b.txt': 'b' },
      { world: { ...world, clock } },
    )
    await drive.calls().readdir('/d/sub')
    drive.hold('/e/a.txt')
    drive.hold('/e/sub/b.txt')
    await drive.calls().rename('/d', '/e')
    await drive.reached('/e/a.txt')
    await drive.calls().rename('/e', '/d')
    drive.release()
    await drive.drain()
    aheadMs = 100_000
    for (const path of ['/', '/d', '/d/sub']) await drive.fileSystem().refresh(path)
    expect((await drive.calls().readdir('/d')).sort()).toEqual(['a.txt', 'sub'])
    expect(await drive.calls().readdir('/d/sub')).toEqual(['b.txt'])
  })

  it('but what another client stored there since', async () => {
    await using drive = await openHeld({ '/d/a.txt': 'a' })
    await drive.calls().readdir('/d')
    await drive.calls().unlink('/d/a.txt')
    await drive.drain()
    await drive.calls().rmdir('/d')
    await drive.calls().mkdir('/d')
    await tick()
    await drive.testService.other.put('/d/a.txt', 'theirs')
    await drive.fileSystem().refresh('/d')
    expect((await drive.calls().readFile('/d/a.txt')).toString()).toBe('theirs')
  })
})

describe('a listing that lags behind does not keep a folder from being removed', () => {
  it('though it tells less than is known of the document that was in it', async () => {
    await using drive = await openHeld({ '/e/other.txt': 'other' })
    await drive.calls().mkdir('/d')
    await drive.calls().writeFile('/d/a.txt', 'a')
    await drive.drain()
    await tick()
    const past = freeze(drive)
    const { faults } = drive.testService.service
    faults.inject({ kind: 'omit-fields', fields: ['size'] }, { method: 'GET', path: '/d' })
    await drive.calls().rename('/d/a.txt', '/e/a.txt')
    await drive.drain()
    past.on()
    await drive.calls().rmdir('/d')
    past.thaw()
    expect(await held(drive)).toEqual({ '/e': undefined, '/e/a.txt': 'a', '/e/other.txt': 'other' })
  })

  it('though it shows a folder where a document was since', async () => {
    await using drive = await openHeld({ '/d/a/b.txt': 'b' })
    await drive.calls().readdir('/d')
    const past = freeze(drive)
    await drive.calls().unlink('/d/a/b.txt')
    await drive.calls().rmdir('/d/a')
    await drive.calls().writeFile('/d/a', 'a')
    await drive.drain()
    await tick()
    await drive.calls().unlink('/d/a')
    past.on()
    await drive.calls().rmdir('/d')
    past.thaw()
    expect(await held(drive)).toEqual({})
  })

  it('but another client’s document does, under the name of the one that was deleted', async () => {
    await using drive = await openHeld({ '/d/a.txt': 'ours' })
    await drive.calls().readFile('/d/a.txt')
    const { faults } = drive.testService.service
    faults.inject({ kind: 'omit-fields', fields: ['size', 'modified_at'] }, { method: 'GET', path: '/d' })
    await drive.calls().unlink('/d/a.txt')
    await drive.drain()
    await tick()
    await drive.testService.other.put('/d/a.txt', 'theirs')
    await expect(drive.calls().rmdir('/d')).rejects.toMatchObject({ code: 'ENOTEMPTY' })
    expect(await held(drive)).toEqual({ '/d': undefined, '/d/a.txt': 'theirs' })
  })
})

describe('what another client changed after us', () => {
  it('shows at once where it is a later version', async () => {
    await using drive = await openHeld({ '/d/a.txt': 'first' })
    await drive.calls().writeFile('/d/a.txt', 'ours')
    await drive.drain()
    await drive.testService.other.put('/d/a.txt', 'theirs')
    await drive.fileSystem().refresh('/d')
    expect((await drive.calls().readFile('/d/a.txt')).toString()).toBe('theirs')
  })

  it.each(['/', '/d', '/d/a.txt'])('shows when %s is refreshed, where it is deleted', async (refreshed) => {
    await using drive = await openHeld({ '/d/a.txt': 'first', '/d/b.txt': 'b' })
    await drive.calls().readdir('/d')
    await drive.calls().writeFile('/d/a.txt', 'ours')
    await drive.drain()
    await drive.testService.other.delete('/d/a.txt')
    await tick()
    await drive.fileSystem().refresh(refreshed)
    expect(await drive.calls().readdir('/d')).toEqual(['b.txt'])
    await expect(drive.calls().stat('/d/a.txt')).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('shows when its folder is refreshed, where that is deleted with it', async () => {
    await using drive = await openHeld({ '/d/a.txt': 'first', '/b.txt': 'b' })
    await drive.calls().readdir('/d')
    await drive.calls().writeFile('/d/a.txt', 'ours')
    await drive.drain()
    await drive.testService.other.delete('/d')
    await tick()
    await drive.fileSystem().refresh('/')
    expect(await drive.calls().readdir('/')).toEqual(['b.txt'])
  })

  it('shows when it is refreshed, where it is an older document that is there again', async () => {
    await using drive = await openHeld({ '/d/a.txt': 'first', '/d/b.txt': 'b' })
    await drive.calls().readdir('/d')
    await drive.calls().unlink('/d/a.txt')
    await drive.drain()
    await drive.testService.other.put('/d/a.txt', 'again')
    await tick()
    await drive.fileSystem().refresh('/d')
    expect((await drive.calls().readFile('/d/a.txt')).toString()).toBe('again')
  })
})

describe('what another client stored shows when it is refreshed, though listings tell neither size nor time', () => {
  const sparse = { kind: 'omit-fields', fields: ['size', 'modified_at'] } as const

  it('of a document that was only read here', async () => {
    await using drive = await openHeld({ '/d/a.txt': 'before' })
    drive.testService.service.faults.inject(sparse, { method: 'GET', path: '/d' })
    expect((await drive.calls().stat('/d/a.txt')).size).toBe(6)
    await drive.testService.other.put('/d/a.txt', 'theirs, which is longer')
    await drive.fileSystem().refresh('/d')
    expect((await drive.calls().stat('/d/a.txt')).size).toBe(23)
    expect((await drive.calls().readFile('/d/a.txt')).toString()).toBe('theirs, which is longer')
  })

  it('of a document that was just saved here', async () => {
    await using drive = await openHeld({ '/d/b.txt': 'b' })
    await drive.calls().readdir('/d')
    drive.testService.service.faults.inject(sparse, { method: 'GET', path: '/d' })
    await drive.calls().writeFile('/d/a.txt', 'ours')
    await drive.drain()
    await tick()
    await drive.testService.other.put('/d/a.txt', 'theirs, which is longer')
    await drive.fileSystem().refresh('/d')
    expect((await drive.calls().stat('/d/a.txt')).size).toBe(23)
    expect((await drive.calls().readFile('/d/a.txt')).toString()).toBe('theirs, which is longer')
  })

  it('of a document that was just deleted here', async () => {
    await using drive = await openHeld({ '/d/a.txt': 'before' })
    await drive.calls().readdir('/d')
    drive.testService.service.faults.inject(sparse, { method: 'GET', path: '/d' })
    await drive.calls().unlink('/d/a.txt')
    await drive.drain()
    await tick()
    await drive.testService.other.put('/d/a.txt', 'theirs, which is longer')
    await drive.fileSystem().refresh('/d')
    expect(await drive.calls().readdir('/d')).toEqual(['a.txt'])
    expect((await drive.calls().readFile('/d/a.txt')).toString()).toBe('theirs, which is longer')
  })

  it('and what was saved here stays, where the listing asked for behind it lags', async () => {
    await using drive = await openHeld({ '/d/b.txt': 'b' })
    await drive.calls().readdir('/d')
    const { faults } = drive.testService.service
    faults.inject(sparse, { method: 'GET', path: '/d' })
    const past = freeze(drive)
    await drive.calls().writeFile('/d/a.txt', 'ours')
    await drive.drain()
    await tick()
    faults.inject({ kind: 'latency', ms: 500 }, { method: 'GET', path: '/d/a.txt' })
    drive.testService.service.clearCalls()
    const refreshed = drive.fileSystem().refresh('/d')
    await waitUntil('the document to be asked', () =>
      drive.testService.service.calls.some(({ method, path }) => method === 'GET' && path === '/d/a.txt'),
    )
    past.on()
    await refreshed
    expect((await drive.calls().readdir('/d')).sort()).toEqual(['a.txt', 'b.txt'])
    past.thaw()
  })

  it('and what was saved here meanwhile stays', async () => {
    await using drive = await openHeld({ '/d/b.txt': 'b' })
    await drive.calls().readdir('/d')
    const { faults } = drive.testService.service
    await drive.calls().writeFile('/d/a.txt', 'ours')
    await drive.drain()
    await drive.testService.other.delete('/d/a.txt')
    faults.inject({ kind: 'latency', ms: 500 }, { method: 'GET', path: '/d/a.txt' })
    drive.testService.service.clearCalls()
    const refreshed = drive.fileSystem().refresh('/d')
    await waitUntil('the document to be asked', () =>
      drive.testService.service.calls.some(({ method, path }) => method === 'GET' && path === '/d/a.txt'),
    )
    drive.hold('/d/a.txt')
    await drive.calls().writeFile('/d/a.txt', 'ours, again')
    await refreshed
    expect((await drive.calls().readdir('/d')).sort()).toEqual(['a.txt', 'b.txt'])
    expect((await drive.calls().readFile('/d/a.txt')).toString()).toBe('ours, again')
    drive.release()
    await drive.drain()
    expect(await held(drive)).toMatchObject({ '/d/a.txt': 'ours, again' })
  })
})

describe('a document renamed while it is on its way', () => {
  it('leaves nothing behind where an older state of it was stored just when it was written again', async () => {
    await using drive = await openHeld({ '/d/a.txt': 'zero' })
    drive.holdAnswer('/d/a.txt')
    await drive.calls().writeFile('/d/a.txt', 'first')
    await drive.reached('/d/a.txt')
    const file = await drive.calls().open('/d/a.txt', 'r+')
    await file.write('again', 0)
    drive.release()
    await waitUntil(
      'the answer to be taken',
      () => drive.fileSystem().unsent('/d/a.txt')[0]?.state === 'pending',
    )
    await file.close()
    await drive.calls().rename('/d/a.txt', '/d/b.txt')
    await drive.drain()
    expect(await held(drive)).toEqual({ '/d': undefined, '/d/b.txt': 'again' })
  })

  it('is found by the second rename where the first will have brought it', async () => {
    await using drive = await openHeld()
    drive.hold('/d1/x.txt', '/d2/x.txt')
    await drive.calls().mkdir('/d1')
    await drive.calls().writeFile('/d1/x.txt', 'x')
    await drive.reached('/d1/x.txt')
    await drive.calls().rename('/d1', '/d2')
    await drive.calls().rename('/d2/x.txt', '/d2/y.txt')
    drive.release()
    drive.hold('/d2/x.txt')
    await drive.reached('/d2/x.txt')
    await drive.calls().rename('/d2/y.txt', '/d2/z.txt')
    drive.release()
    await drive.drain()
    expect(await held(drive)).toEqual({ '/d2': undefined, '/d2/z.txt': 'x' })
  })

  it('does not take along the document whose place it was to take', async () => {
    await using drive = await openHeld({ '/d/f.txt': 'f' })
    await drive.calls().readdir('/d')
    drive.hold('/d/n.txt')
    await drive.calls().writeFile('/d/n.txt', 'n')
    await drive.reached('/d/n.txt')
    await drive.calls().rename('/d/f.txt', '/d/n.txt')
    await drive.calls().rename('/d/n.txt', '/d/m.txt')
    drive.release()
    await drive.drain()
    expect(await held(drive)).toEqual({ '/d': undefined, '/d/m.txt': 'f' })
    expect(await drive.calls().readdir('/d')).toEqual(['m.txt'])
  })

  it('keeps its own version and no other when it is renamed back', async () => {
    await using drive = await openHeld({ '/x.txt': 'before' })
    await drive.calls().readdir('/')
    drive.hold('/x.txt', '/y.txt')
    await drive.calls().writeFile('/x.txt', 'first')
    await drive.reached('/x.txt')
    await drive.calls().rename('/x.txt', '/y.txt')
    drive.release()
    drive.hold('/y.txt')
    await waitUntil('the first save', () => drive.fileSystem().unsent('/').length === 1)
    await drive.calls().rename('/y.txt', '/x.txt')
    drive.release()
    await drive.drain()
    expect(await held(drive)).toEqual({ '/x.txt': 'first' })
  })

  it('becomes a backup and a document again, and replaces what was saved meanwhile', async () => {
    await using drive = await openHeld({ '/x.txt': 'zero' })
    drive.hold('/x.txt')
    await drive.calls().writeFile('/x.txt', 'first')
    await drive.reached('/x.txt')
    await drive.calls().rename('/x.txt', '/x.txt~')
    await drive.calls().writeFile('/x.txt', 'second')
    drive.release()
    await drive.drain()
    await drive.calls().rename('/x.txt~', '/x.txt')
    await drive.calls().rename('/x.txt', '/y.txt')
    await drive.drain()
    expect(await held(drive)).toEqual({ '/y.txt': 'first' })
  })

  it('is its own backup again though another document was to take its place', async () => {
    await using drive = await openHeld({ '/n.txt': 'n', '/m.txt': 'm' })
    await drive.calls().readdir('/')
    const clear = drive.testService.service.faults.inject(
      { kind: 'status', status: 503 },
      { endpoint: 'files', method: 'GET', path: '/n.txt' },
    )
    await drive.calls().rename('/n.txt', '/n.txt~')
    await drive.calls().rename('/m.txt', '/n.txt')
    await waitUntil('the move to fail', () => drive.fileSystem().unsent('/n.txt')[0]?.state === 'retrying')
    await drive.calls().unlink('/n.txt')
    await drive.calls().rename('/n.txt~', '/n.txt')
    await drive.calls().rename('/n.txt', '/f.txt')
    clear()
    await drive.drain()
    expect(await held(drive)).toEqual({ '/f.txt': 'n' })
  })

  it('is not in conflict with itself where the service does not answer what it has stored', async () => {
    await using drive = await openHeld({ '/x.txt': 'x' })
    await drive.calls().readdir('/')
    const clear = drive.testService.service.faults.inject(
      { kind: 'status', status: 429, retryAfter: 0 },
      { endpoint: 'files', method: 'GET', path: '/y.txt' },
    )
    await drive.calls().rename('/x.txt', '/y.txt')
    await waitUntil('the move to fail', () => (drive.fileSystem().unsent('/y.txt')[0]?.attempts ?? 0) > 1)
    clear()
    await drive.drain()
    expect(await held(drive)).toEqual({ '/y.txt': 'x' })
  })

  it('keeps its content as a backup, whatever becomes of the document after a restart', async () => {
    await using drive = await openHeld()
    drive.hold('/x.txt')
    await drive.calls().writeFile('/x.txt', 'first')
    await drive.reached('/x.txt')
    await drive.calls().rename('/x.txt', '/x.txt~')
    await drive.restart()
    drive.release()
    await drive.drain()
    expect((await drive.calls().readFile('/x.txt~')).toString()).toBe('first')
    expect(await held(drive)).toEqual({ '/x.txt~': 'first' })
  })

  it('is after a restart not what it replaced', async () => {
    await using drive = await openHeld({ '/f.txt': 'f' })
    await drive.calls().readdir('/')
    drive.hold('/n.txt')
    await drive.calls().writeFile('/n.txt', 'n')
    await drive.reached('/n.txt')
    await drive.calls().rename('/f.txt', '/n.txt')
    await drive.restart()
    expect(await drive.calls().readdir('/')).toEqual(['n.txt'])
    expect((await drive.calls().readFile('/n.txt')).toString()).toBe('f')
    drive.release()
    await drive.drain()
    expect(await held(drive)).toEqual({ '/n.txt': 'f' })
  })

  it('is after a restart at its new place only, and so is its folder', async () => {
    await using drive = await openHeld()
    drive.hold('/d1/s/x.txt', '/d2/s/x.txt')
    await drive.calls().mkdir('/d1')
    await drive.calls().mkdir('/d1/s')
    await drive.calls().writeFile('/d1/s/x.txt', 'x')
    await drive.reached('/d1/s/x.txt')
    await drive.calls().rename('/d1', '/d2')
    await drive.restart()
    expect(await drive.calls().readdir('/')).toEqual(['d2'])
    expect((await drive.calls().readFile('/d2/s/x.txt')).toString()).toBe('x')
    drive.release()
    await drive.drain()
    expect(await held(drive)).toEqual({ '/d2': undefined, '/d2/s': undefined, '/d2/s/x.txt': 'x' })
  })
})

describe('a document deleted while it is on its way', () => {
  it('does not arrive after all, though a second save was waiting behind the first', async () => {
    await using drive = await openHeld()
    drive.hold('/n.txt')
    await drive.calls().writeFile('/n.txt', 'first')
    await drive.reached('/n.txt')
    await drive.calls().writeFile('/n.txt.tmp', 'second')
    await drive.calls().rename('/n.txt.tmp', '/n.txt')
    await drive.calls().unlink('/n.txt')
    drive.release()
    await drive.drain()
    expect(await held(drive)).toEqual({})
    expect(await drive.calls().readdir('/')).toEqual([])
  })
})
