// The namespace: what the service lists, overlaid by what is true here.

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { RemoteFile } from '../../../src/api/types.ts'
import { refresh } from '../../../src/fs/control/refresh.ts'
import { ListedNames } from '../../../src/fs/tree/listed-names.ts'
import { pathIn, type Node } from '../../../src/fs/tree/node.ts'
import { createClock } from '../../../src/world/clock.ts'
import { heldTimers } from '../../support/held-timers.ts'
import { startTestService, type TestService } from '../../support/service.ts'
import { setUpTree, tick, ttlMs, type TreeSettings, type TreeSetup } from './tree-setup.ts'

let testService: TestService
let setup: TreeSetup | undefined

beforeAll(async () => {
  testService = await startTestService()
})

afterEach(async () => {
  await setup?.close()
  setup = undefined
})

afterAll(async () => {
  await testService.close()
})

async function open(
  given: Readonly<Record<string, string>> = {},
  settings: TreeSettings = {},
): Promise<TreeSetup> {
  return (setup = await setUpTree(testService, given, settings))
}

/** The node that the name stands for; there must be one. */
function at(drive: TreeSetup, path: string): Node {
  const found = drive.node(path)
  if (found === undefined) throw new Error(`no ${path}`)
  return found
}

/** As after a while in which nobody looked there. */
function forget({ tree }: TreeSetup, path: string): void {
  const folder = tree.find(path)
  if (folder === undefined) throw new Error(`no ${path}`)
  tree.listings.forget(folder)
  tree.nodes.dropIfUnused(folder)
}

/** `on` makes every listing what it was when this was called, until `off`. */
async function past(): Promise<{ on: () => void; off: () => void } & Disposable> {
  await tick()
  const at = Date.now()
  await tick()
  const { faults } = testService.service
  let off = (): void => {}
  return {
    on: () => void (off = faults.inject({ kind: 'stale-listing', asOf: at }, { method: 'GET' })),
    off: () => off(),
    [Symbol.dispose]: () => off(),
  }
}

describe('a listing', () => {
  it('names what the service has, and what each name is', async () => {
    const drive = await open({ '/a.txt': 'a', '/d/b.txt': 'b' })
    expect(drive.shown().toSorted()).toEqual(['a.txt', 'd'])
    expect(at(drive, '/a.txt')).toMatchObject({ kind: 'file', size: 1, isDirty: false })
    expect(at(drive, '/d').kind).toBe('folder')
    expect(drive.node('/c.txt')).toBeUndefined()
    expect(await drive.list('/d')).toEqual(['b.txt'])
  })

  it('brings what another client made, and the door hears of the name', async () => {
    const drive = await open({ '/a.txt': 'a' })
    await testService.other.put('/b.txt', 'b')
    expect((await drive.list()).toSorted()).toEqual(['a.txt', 'b.txt'])
    expect(drive.told()).toEqual(['entry /b.txt', 'content /'])
  })

  it('shows another client’s version in the same node, and the door’s pages are of something else', async () => {
    const drive = await open({ '/a.txt': 'a' })
    const node = at(drive, '/a.txt')
    node.door.showContent()
    await testService.other.put('/a.txt', 'longer')
    await drive.list()
    expect(at(drive, '/a.txt')).toBe(node)
    expect(node.size).toBe(6)
    expect(node.unsent.base).toBe(node.stored.fingerprint)
    expect(node.door.showContent()).toBe(false)
    expect(drive.told()).toEqual(['content /a.txt', 'content /'])
  })

  it('that says the same again tells nobody, and brings a younger link', async () => {
    const drive = await open({ '/a.txt': 'a' })
    const { stored, door } = at(drive, '/a.txt')
    door.showContent()
    const { askedAt } = stored
    await drive.list()
    expect(stored.askedAt).toBeGreaterThan(askedAt)
    expect(door.showContent()).toBe(true)
    expect(drive.told()).toEqual([])
  })

  it('takes away what another client deleted; who has it open still knows where its bytes were', async () => {
    const drive = await open({ '/a.txt': 'a', '/b.txt': 'b' })
    const [a, b] = [at(drive, '/a.txt'), at(drive, '/b.txt')]
    a.door.opened()
    await testService.other.delete('/a.txt')
    await testService.other.delete('/b.txt')
    expect(await drive.list()).toEqual([])
    expect(drive.told()).toEqual(expect.arrayContaining(['entry /a.txt', 'entry /b.txt', 'content /']))
    expect(drive.node('/a.txt')).toBeUndefined()
    expect(drive.tree.nodes.find(a.ino)).toBe(a)
    expect(a).toMatchObject({ isUnlinked: true, storedPath: '/a.txt' })
    expect(drive.tree.nodes.find(b.ino)).toBeUndefined()
  })

  it('takes a document away whose bytes are known to be where they were, though its folder is renamed then', async () => {
    const drive = await open({ '/d/a.txt': 'a', '/d/b.txt': 'b' })
    await drive.list('/d')
    const node = at(drive, '/d/a.txt')
    node.door.opened()
    await testService.other.delete('/d/a.txt')
    await drive.list('/d')
    const folder = at(drive, '/d')
    drive.tree.places.detach(folder)
    drive.tree.places.attach(folder, drive.tree.nodes.root, 'e')
    expect(node.storedPath).toBe('/d/a.txt')
  })

  it('makes another node of a name that is a folder now', async () => {
    const drive = await open({ '/a': 'a' })
    const before = at(drive, '/a')
    await testService.other.delete('/a')
    await testService.other.put('/a/b.txt', 'b')
    await drive.list()
    expect(at(drive, '/a').kind).toBe('folder')
    expect(at(drive, '/a').ino).not.toBe(before.ino)
    expect(before.isUnlinked).toBe(true)
  })

  it('that tells less than is known, and nothing else, leaves the version as it was', async () => {
    const drive = await open({ '/a.txt': 'a' })
    const node = at(drive, '/a.txt')
    const { fingerprint } = node.stored
    testService.service.faults.inject({ kind: 'omit-fields', fields: ['size', 'modified_at'] })
    await drive.list()
    expect(node.stored.fingerprint).toBe(fingerprint)
    expect(node.size).toBe(1)
    expect(drive.told()).toEqual([])
  })

  it('that tells no size is no word on a document: that is asked one cache lifetime after what is known of it', async () => {
    const drive = await open({ '/a.txt': 'a' })
    const { stored } = at(drive, '/a.txt')
    const { askedAt } = stored
    drive.pass(ttlMs + 1)
    testService.service.faults.inject({ kind: 'omit-fields', fields: ['size'] })
    await drive.list()
    expect(stored.lookedUpAt).toBe(askedAt)
  })

  it('with odd entries shows the rest, and counts them until it has none', async () => {
    const drive = await open({ '/a.txt': 'a' })
    const clear = testService.service.faults.inject({
      kind: 'odd-entries',
      entries: [
        null,
        'a name',
        { ftype: 'file' },
        { ftype: 'file', name: '..' },
        { ftype: 'file', name: 'one/two.txt' },
        { ftype: 'socket', name: 'pipe' },
        { ftype: 'file', name: 'a.txt', size: 'one' },
        { ftype: 'file', name: `${'long'.repeat(64)}.txt`, size: 1 },
        { ftype: 'file', name: 'odd.txt', size: -1 },
      ],
    })
    expect(await drive.list()).toEqual(['a.txt', 'odd.txt'])
    expect(at(drive, '/odd.txt').size).toBeUndefined()
    expect(drive.tree.source.oddEntries).toEqual({ leftOut: 8, repaired: 2 })
    clear()
    expect(await drive.list()).toEqual(['a.txt'])
    expect(drive.tree.source.oddEntries).toEqual({ leftOut: 0, repaired: 0 })
  })

  it('that is refused is no empty folder: what was known stays', async () => {
    const drive = await open({ '/a.txt': 'a' })
    const node = at(drive, '/a.txt')
    testService.service.faults.inject({ kind: 'status', status: 403 }, { method: 'GET', times: 1 })
    await expect(drive.list()).rejects.toMatchObject({ status: 403 })
    expect(drive.shown()).toEqual(['a.txt'])
    expect(at(drive, '/a.txt')).toBe(node)
    expect(drive.told()).toEqual([])
  })

  it('of a folder that is gone is ENOENT, and its parent’s says so too', async () => {
    const drive = await open({ '/d/a.txt': 'a' })
    await drive.list('/d')
    await testService.other.delete('/d')
    await expect(drive.list('/d')).rejects.toMatchObject({ code: 'ENOENT' })
    expect(drive.shown()).toEqual([])
    expect(drive.node('/d')).toBeUndefined()
  })

  it('of a folder that came while it was being asked for is asked for once more', async () => {
    const drive = await open({ '/d/a.txt': 'a' })
    const { faults } = testService.service
    const [missing, target] = [{ kind: 'status', status: 404 } as const, { method: 'GET', path: '/d' }]
    faults.inject(missing, { ...target, times: 1 })
    expect(await drive.list('/d')).toEqual(['a.txt'])
    faults.inject(missing, { ...target, times: 2 })
    await expect(drive.list('/d')).rejects.toMatchObject({ status: 404 })
    expect(drive.shown()).toEqual(['d'])
  })

  it('of a folder that is a document now is ENOTDIR', async () => {
    const drive = await open({ '/d/a.txt': 'a' })
    await drive.list('/d')
    await testService.other.delete('/d')
    await testService.other.put('/d', 'a document')
    await expect(drive.list('/d')).rejects.toMatchObject({ code: 'ENOTDIR' })
  })

  it('that was asked for earlier and comes later is not believed', async () => {
    const drive = await open({ '/d/a.txt': 'a' })
    await drive.list('/d')
    drive.pass(ttlMs + 1)
    testService.service.clearCalls()
    const { faults } = testService.service
    const [drip, target] = [
      { kind: 'slow-drip', bytesPerSecond: 1_000 } as const,
      { method: 'GET', path: '/d' },
    ]
    faults.inject(drip, { ...target, times: 1 })
    const { hits } = faults
    const late = drive.tree.listing(at(drive, '/d'))
    await expect.poll(() => faults.hits).toBe(hits + 1)
    await testService.other.put('/d/b.txt', 'b')
    expect((await drive.list('/d')).toSorted()).toEqual(['a.txt', 'b.txt'])
    const told = drive.tree.names(at(drive, '/d'), await late)
    expect(told.toSorted()).toEqual(['a.txt', 'b.txt'])
    expect(drive.shown('/d').toSorted()).toEqual(['a.txt', 'b.txt'])
    drive.tree.listings.forget(at(drive, '/d'))
    drive.files.reach.tell('no-connection', 'the cable is out')
    expect((await drive.list('/d')).toSorted()).toEqual(['a.txt', 'b.txt'])
  })

  it('that was asked for earlier than a document was seen to be another version is asked for once more', async () => {
    const drive = await open({ '/d/a.txt': 'a' })
    await drive.list('/d')
    drive.pass(ttlMs + 1)
    const { faults } = testService.service
    const { hits } = faults
    const drip = { kind: 'slow-drip', bytesPerSecond: 1_000 } as const
    faults.inject(drip, { method: 'GET', path: '/d', times: 1 })
    expect(drive.node('/d/a.txt')?.size).toBe(1)
    const late = drive.tree.loadFresh(at(drive, '/d'))
    await expect.poll(() => faults.hits).toBe(hits + 1)
    drive.pass(1)
    await testService.other.delete('/d/a.txt')
    await testService.other.put('/d/a.txt', 'another')
    const record = (await drive.files.get('/d/a.txt')) as RemoteFile
    drive.tree.recordChanged('/d/a.txt', record)
    expect((await late).names.get('a.txt')).toMatchObject({ size: 'another'.length })
    expect(drive.node('/d/a.txt')?.size).toBe('another'.length)
  })

  it('that was asked for later, and answered before another that came first, takes nothing of that back', async () => {
    const drive = await open({ '/d/a.txt': 'a' })
    await drive.list('/d')
    const { faults } = testService.service
    const asked: Promise<unknown>[] = []
    for (const fault of [
      { kind: 'latency', ms: 1_000 },
      { kind: 'slow-drip', bytesPerSecond: 100 },
    ] as const) {
      const { hits } = faults
      faults.inject(fault, { method: 'GET', path: '/d', times: 1 })
      drive.pass(1)
      asked.push(drive.tree.loadFresh(at(drive, '/d')))
      await expect.poll(() => faults.hits).toBe(hits + 1)
    }
    drive.pass(1)
    await testService.other.put('/d/b.txt', 'b')
    await Promise.all(asked)
    expect(drive.shown('/d').toSorted()).toEqual(['a.txt', 'b.txt'])
  })

  it('that comes after one that was asked for before it is what is known from then on', async () => {
    const drive = await open({ '/d/a.txt': 'a' })
    await drive.list('/d')
    const folder = at(drive, '/d')
    drive.pass(ttlMs + 1)
    const { faults } = testService.service
    const begun = async <T>(fault: Parameters<typeof faults.inject>[0], ask: () => T): Promise<T> => {
      const { hits } = faults
      faults.inject(fault, { method: 'GET', path: '/d', times: 1 })
      const asked = ask()
      await expect.poll(() => faults.hits).toBe(hits + 1)
      return asked
    }
    const drip = { kind: 'slow-drip', bytesPerSecond: 1_000 } as const
    const { first } = await begun(drip, () => ({ first: drive.tree.loadFresh(folder) }))
    await testService.other.put('/d/b.txt', 'b')
    drive.pass(1)
    const latency = { kind: 'latency', ms: 1_500 } as const
    const { later } = await begun(latency, () => ({ later: drive.tree.listing(folder) }))
    expect(drive.tree.names(folder, await first)).toEqual(['a.txt'])
    await later
    expect(drive.shown('/d').toSorted()).toEqual(['a.txt', 'b.txt'])
  })

  it('that comes when the service was thought to be away, and the last one was told, is what is known from then on', async () => {
    const drive = await open({ '/d/a.txt': 'a' })
    await drive.list('/d')
    const folder = at(drive, '/d')
    await drive.sent(drive.made('/d/b.txt'), 'b')
    drive.tree.listings.set(folder, { names: new ListedNames(), requestedAt: 1_000_001 })
    drive.pass(ttlMs + 10)
    const { faults } = testService.service
    const { hits } = faults
    faults.inject({ kind: 'latency', ms: 300 }, { method: 'GET', path: '/d', times: 1 })
    const slow = drive.tree.listing(folder)
    await expect.poll(() => faults.hits, { interval: 5 }).toBe(hits + 1)
    drive.files.reach.tell('no-connection', 'the cable is out')
    expect(await drive.list('/d')).toEqual(['b.txt'])
    await slow
    expect(drive.shown('/d').toSorted()).toEqual(['a.txt', 'b.txt'])
    // A save over it knows the version that it replaces.
    expect(drive.node('/d/b.txt')?.unsent.base).toBeDefined()
  })

  it('that somebody waits for while another comes that was asked for earlier is what shows from then on', async () => {
    const drive = await open({ '/d/a.txt': 'a' })
    const folder = at(drive, '/d')
    const { faults } = testService.service
    const { hits } = faults
    faults.inject({ kind: 'latency', ms: 300 }, { method: 'GET', path: '/d', times: 1 })
    const refreshed = drive.tree.loadFresh(folder)
    await expect.poll(() => faults.hits).toBe(hits + 1)
    faults.inject({ kind: 'latency', ms: 1_000 }, { method: 'GET', path: '/d', times: 1 })
    drive.pass(1)
    const waitedFor = drive.tree.listing(folder)
    await expect.poll(() => faults.hits).toBe(hits + 2)
    drive.pass(1)
    expect(drive.tree.names(folder, await refreshed)).toEqual(['a.txt'])
    drive.told()
    await testService.other.put('/d/b.txt', 'b')
    expect(drive.tree.names(folder, await waitedFor).toSorted()).toEqual(['a.txt', 'b.txt'])
    expect(drive.told()).toContain('entry /d/b.txt')
    expect(drive.shown('/d').toSorted()).toEqual(['a.txt', 'b.txt'])
  })

  it('that was asked for earlier and never comes is what was told since, though nobody has looked', async () => {
    const timers = heldTimers()
    const drive = await open({ '/d/a.txt': 'a' }, { timers })
    await drive.list('/d')
    const folder = at(drive, '/d')
    const { faults } = testService.service
    const { hits } = faults
    faults.inject({ kind: 'slow-drip', bytesPerSecond: 1 }, { method: 'GET', path: '/d', times: 1 })
    const late = drive.tree.loadFresh(folder)
    await expect.poll(() => faults.hits).toBe(hits + 1)
    await testService.other.put('/d/b.txt', 'b')
    expect((await drive.list('/d')).toSorted()).toEqual(['a.txt', 'b.txt'])
    drive.pass(ttlMs + 1)
    timers.fire()
    drive.files.reach.tell('no-connection', 'the cable is out')
    const told = drive.tree.names(folder, await late)
    expect(told.toSorted()).toEqual(['a.txt', 'b.txt'])
  })

  it('that was asked for before a refresh and never comes is what was told since', async () => {
    const drive = await open({ '/d/a.txt': 'a' })
    await drive.list('/d')
    const folder = at(drive, '/d')
    const { faults } = testService.service
    const { hits } = faults
    faults.inject({ kind: 'slow-drip', bytesPerSecond: 1 }, { method: 'GET', path: '/d', times: 1 })
    const late = drive.tree.loadFresh(folder)
    await expect.poll(() => faults.hits).toBe(hits + 1)
    await testService.other.put('/d/b.txt', 'b')
    expect((await drive.list('/d')).toSorted()).toEqual(['a.txt', 'b.txt'])
    await refresh({ tree: drive.tree, files: drive.files, clock: createClock() }, '/')
    drive.files.reach.tell('no-connection', 'the cable is out')
    expect(drive.tree.names(folder, await late).toSorted()).toEqual(['a.txt', 'b.txt'])
  })

  it('in which a document was seen to be another version shows that one while the service is away', async () => {
    const drive = await open({ '/d/a.txt': 'a' })
    await drive.list('/d')
    expect(drive.node('/d/a.txt')?.size).toBe(1)
    await testService.other.delete('/d/a.txt')
    await testService.other.put('/d/a.txt', 'another')
    drive.tree.recordChanged('/d/a.txt', (await drive.files.get('/d/a.txt')) as RemoteFile)
    drive.files.reach.tell('no-connection', 'the cable is out')
    await drive.list('/d')
    expect(drive.node('/d/a.txt')?.size).toBe('another'.length)
    // As after a while in which nobody looked, and after a restart.
    drive.tree.listings.forget(at(drive, '/d'))
    await drive.list('/d')
    expect(drive.node('/d/a.txt')?.size).toBe('another'.length)
  })

  it('of a folder that was gone meanwhile is not that of another of its name, also while the service is away', async () => {
    const drive = await open({ '/d/a.txt': 'a' })
    await drive.list('/')
    await drive.list('/d')
    await testService.other.delete('/d')
    await drive.tree.loadFresh(at(drive, '/'))
    await testService.other.put('/d/b.txt', 'b')
    await drive.tree.loadFresh(at(drive, '/'))
    drive.files.reach.tell('no-connection', 'the cable is out')
    expect(await drive.list('/')).toEqual(['d'])
    await expect(drive.list('/d')).rejects.toMatchObject({ name: 'NetworkError' })
  })

  it.each(['/d', '/d/e'])(
    'that comes after its folder %s was gone is not that of another of its name',
    async (path) => {
      const drive = await open({ [`${path}/a.txt`]: 'a' })
      if (path !== '/d') await drive.list('/d')
      await drive.list(path)
      const { faults } = testService.service
      const { hits } = faults
      const drip = { kind: 'slow-drip', bytesPerSecond: 300 } as const
      faults.inject(drip, { method: 'GET', path, times: 1 })
      // A program that waits for it holds on to the folder.
      at(drive, path).door.remember()
      const late = drive.tree.loadFresh(at(drive, path))
      await expect.poll(() => faults.hits).toBe(hits + 1)
      await testService.other.delete('/d')
      expect(await drive.list()).toEqual([])
      await late
      await testService.other.put(`${path}/b.txt`, 'b')
      await drive.list()
      if (path !== '/d') await drive.list('/d')
      drive.files.reach.tell('no-connection', 'the cable is out')
      await expect(drive.list(path)).rejects.toMatchObject({ name: 'NetworkError' })
    },
  )

  it('that comes after its folder was gone takes nothing of another of its name away', async () => {
    const drive = await open({ '/d/a.txt': 'a', '/d/e/a.txt': 'a' })
    await drive.list('/d')
    await testService.other.delete('/d/e')
    const { faults } = testService.service
    const { hits } = faults
    const drip = { kind: 'slow-drip', bytesPerSecond: 300 } as const
    faults.inject(drip, { method: 'GET', path: '/d', times: 1 })
    at(drive, '/d').door.remember()
    const late = drive.tree.loadFresh(at(drive, '/d'))
    await expect.poll(() => faults.hits).toBe(hits + 1)
    await testService.other.delete('/d')
    await drive.list()
    await testService.other.put('/d/e/b.txt', 'b')
    for (const path of ['/', '/d', '/d/e']) await drive.list(path)
    await late
    forget(drive, '/d/e')
    drive.files.reach.tell('no-connection', 'the cable is out')
    expect(await drive.list('/d/e')).toEqual(['b.txt'])
  })

  it('of a folder that was gone is not that of another of its name, though nobody had looked for a while before', async () => {
    const drive = await open({
      '/d/a.txt': 'a',
      '/d/e/a.txt': 'a',
      '/d.txt': 'stays',
      '/d (2)/a.txt': 'stays',
    })
    for (const path of ['/', '/d', '/d/e', '/d (2)']) await drive.list(path)
    // As after a restart, too.
    for (const path of ['/d/e', '/d', '/d (2)', '/']) forget(drive, path)
    await testService.other.delete('/d')
    expect((await drive.list()).toSorted()).toEqual(['d (2)', 'd.txt'])
    await testService.other.put('/d/e/b.txt', 'b')
    await drive.list()
    drive.files.reach.tell('no-connection', 'the cable is out')
    await expect(drive.list('/d')).rejects.toMatchObject({ name: 'NetworkError' })
    expect(await drive.list('/d (2)')).toEqual(['a.txt'])
  })

  it('of a folder that was a document meanwhile is not that of another of its name', async () => {
    const drive = await open({ '/d/a.txt': 'a' })
    await drive.list()
    await drive.list('/d')
    forget(drive, '/d')
    await testService.other.delete('/d')
    await testService.other.put('/d', 'a document')
    await drive.list()
    await testService.other.delete('/d')
    await testService.other.put('/d/b.txt', 'b')
    await drive.list()
    drive.files.reach.tell('no-connection', 'the cable is out')
    await expect(drive.list('/d')).rejects.toMatchObject({ name: 'NetworkError' })
  })

  it('that cannot be had, since the service is away, is the last one that was', async () => {
    const drive = await open({ '/a.txt': 'a' })
    drive.files.reach.tell('no-connection', 'the cable is out')
    expect(await drive.list()).toEqual(['a.txt'])
    drive.tree.listings.forget(drive.tree.nodes.root)
    expect(await drive.list()).toEqual(['a.txt'])
  })
})

describe('a document made or saved here', () => {
  it('shows though no listing names it, for as long as the service has not got it', async () => {
    const drive = await open({ '/a.txt': 'a' })
    const node = drive.made('/new.txt')
    drive.pass(100 * ttlMs)
    expect(await drive.list()).toEqual(['a.txt', 'new.txt'])
    expect(at(drive, '/new.txt')).toBe(node)
  })

  it('outranks a listing that does not name it for one cache lifetime, and then no longer', async () => {
    const drive = await open()
    const node = drive.made('/new.txt')
    await drive.sent(node, 'new')
    await testService.other.delete('/new.txt')
    drive.pass(ttlMs - 2)
    expect(await drive.list()).toEqual(['new.txt'])
    drive.pass(2)
    expect(await drive.list()).toEqual([])
    expect(node.isUnlinked).toBe(true)
    expect(drive.told()).toContain('entry /new.txt')
  })

  it('makes a listing that says otherwise be asked for again when it may decide', async () => {
    const drive = await open()
    await drive.sent(drive.made('/new.txt'), 'new')
    await testService.other.delete('/new.txt')
    drive.pass(ttlMs / 2)
    await drive.list()
    drive.pass(ttlMs / 2)
    expect(drive.tree.names(drive.tree.nodes.root, await drive.tree.listing(drive.tree.nodes.root))).toEqual(
      [],
    )
  })

  it('keeps its version where the listing lags behind, also behind one that had it', async () => {
    const drive = await open({ '/a.txt': 'first' })
    const node = at(drive, '/a.txt')
    using before = await past()
    drive.tree.places.keep(node)
    await drive.sent(node, 'ours, and longer')
    before.on()
    await drive.list()
    expect(node.size).toBe(16)
    before.off()
    await drive.list()
    before.on()
    await drive.list()
    expect(node.size).toBe(16)
    expect(drive.told()).toEqual([])
  })

  it('shows another client’s later version at once', async () => {
    const drive = await open({ '/a.txt': 'first' })
    const node = at(drive, '/a.txt')
    drive.tree.places.keep(node)
    await drive.sent(node, 'ours')
    await tick()
    await testService.other.put('/a.txt', 'by another')
    await drive.list()
    expect(node.size).toBe(10)
    expect(drive.told()).toContain('content /a.txt')
  })

  it('is no listing’s to decide while it is unsent, whatever another client stores', async () => {
    const drive = await open({ '/a.txt': 'first' })
    const node = at(drive, '/a.txt')
    const base = node.stored.fingerprint
    node.local.markLocalOnly()
    drive.tree.places.keep(node)
    await tick()
    await testService.other.put('/a.txt', 'by another')
    drive.pass(100 * ttlMs)
    await drive.list()
    expect(node.stored.fingerprint).toBe(base)
    expect(node.unsent.base).toBe(base)
  })

  it('is in the service with the folder it made', async () => {
    const drive = await open()
    const folder = drive.made('/d', 'folder')
    expect(await drive.list('/d')).toEqual([])
    await testService.other.put('/d/theirs.txt', 'theirs')
    expect(await drive.list()).toEqual(['d'])
    expect(drive.landed).toEqual(['/d'])
    expect(at(drive, '/d')).toBe(folder)
  })
})

describe('a name that was deleted here', () => {
  function bury(drive: TreeSetup, name: string): string | undefined {
    const { stored } = at(drive, `/${name}`)
    drive.tree.places.displace(at(drive, `/${name}`))
    drive.tree.synced.touch(`/${name}`, stored.fingerprint)
    return stored.fingerprint
  }

  it('is hidden though every listing has it, for as long as the service has not agreed', async () => {
    const drive = await open({ '/a.txt': 'a', '/b.txt': 'b' })
    bury(drive, 'a.txt')
    expect(drive.shown()).toEqual(['b.txt'])
    drive.pass(100 * ttlMs)
    expect(await drive.list()).toEqual(['b.txt'])
    expect(drive.node('/a.txt')).toBeUndefined()
  })

  it('is hidden for one cache lifetime after the service agreed, and then is as it is listed', async () => {
    const drive = await open({ '/a.txt': 'a' })
    const fingerprint = bury(drive, 'a.txt')
    drive.tree.synced.agree('/a.txt', fingerprint)
    drive.pass(ttlMs - 2)
    expect(await drive.list()).toEqual([])
    drive.pass(2)
    expect(await drive.list()).toEqual(['a.txt'])
    expect(drive.told()).toContain('entry /a.txt')
  })

  it('shows at once what another client has stored there since', async () => {
    const drive = await open({ '/a.txt': 'a' })
    const fingerprint = bury(drive, 'a.txt')
    drive.tree.synced.agree('/a.txt', fingerprint)
    await tick()
    await testService.other.put('/a.txt', 'again')
    expect(await drive.list()).toEqual(['a.txt'])
    expect(at(drive, '/a.txt').size).toBe(5)
  })

  it('is forgotten when the listings have caught up', async () => {
    const drive = await open({ '/a.txt': 'a' })
    const fingerprint = bury(drive, 'a.txt')
    await testService.other.delete('/a.txt')
    drive.tree.synced.agree('/a.txt', fingerprint)
    drive.pass(ttlMs + 1)
    expect(await drive.list()).toEqual([])
    expect(drive.tree.synced.in(drive.tree.nodes.root).size).toBe(0)
  })

  it('does not show again when what was made there next leaves it, though a listing that lags has it', async () => {
    const drive = await open({ '/a.txt': 'a' })
    const fingerprint = bury(drive, 'a.txt')
    drive.tree.synced.agree('/a.txt', fingerprint)
    const made = drive.made('/a.txt')
    expect(await drive.list()).toEqual(['a.txt'])
    drive.tree.places.displace(made)
    expect(drive.shown()).toEqual([])
    expect(await drive.list()).toEqual([])
    drive.pass(ttlMs)
    expect(await drive.list()).toEqual(['a.txt'])
  })

  it('does not show again when what was made there next leaves it, though the listing still has it', async () => {
    const drive = await open({ '/a.txt': 'a' })
    bury(drive, 'a.txt')
    // The service still lists it.
    expect(await drive.list()).toEqual([])
    const made = drive.made('/a.txt')
    drive.tree.places.detach(made)
    drive.tree.places.attach(made, drive.tree.nodes.root, 'b.txt')
    expect(drive.shown()).toEqual(['b.txt'])
  })

  it('stands for what is made there next', async () => {
    const drive = await open({ '/a.txt': 'a' })
    bury(drive, 'a.txt')
    const node = drive.made('/a.txt')
    expect(drive.shown()).toEqual(['a.txt'])
    expect(at(drive, '/a.txt')).toBe(node)
  })

  it('shows again, and the door is told, where the service refuses the delete', async () => {
    const drive = await open({ '/a.txt': 'a' })
    bury(drive, 'a.txt')
    drive.tree.synced.drop('/a.txt')
    drive.tree.places.changedAt(drive.tree.nodes.root, 'a.txt')
    expect(drive.told()).toEqual(['entry /a.txt', 'content /'])
    expect(await drive.list()).toEqual(['a.txt'])
  })

  it('takes with it the version that arrived there after all', async () => {
    const drive = await open({ '/a.txt': 'a' })
    bury(drive, 'a.txt')
    drive.tree.synced.arrived('/a.txt', 'arrived')
    expect(drive.tree.synced.at('/a.txt')?.highest).toBe('arrived')
    drive.tree.synced.agree('/a.txt')
    drive.tree.synced.arrived('/a.txt', 'too late')
    expect(drive.tree.synced.at('/a.txt')?.highest).toBe('arrived')
  })

  it('is not forgotten with its folder while the delete is under way', async () => {
    const drive = await open({ '/d/a.txt': 'a' })
    await drive.list('/d')
    const folder = at(drive, '/d')
    const node = at(drive, '/d/a.txt')
    drive.tree.places.displace(node)
    drive.tree.synced.touch('/d/a.txt', node.stored.fingerprint)
    drive.tree.listings.forget(folder)
    drive.tree.nodes.dropIfUnused(folder)
    expect(at(drive, '/d')).toBe(folder)
    expect(await drive.list('/d')).toEqual([])
  })

  it('is not forgotten with its folder when the service has agreed, for one cache lifetime', async () => {
    const drive = await open({ '/d/a.txt': 'a', '/d/b.txt': 'b' })
    await drive.list('/d')
    const node = at(drive, '/d/a.txt')
    drive.tree.places.displace(node)
    drive.tree.synced.touch('/d/a.txt', node.stored.fingerprint)
    drive.tree.synced.agree('/d/a.txt')
    for (let looks = 0; looks < 2; looks++) {
      forget(drive, '/d')
      expect(drive.tree.find('/d')).toBeUndefined()
      expect(await drive.list('/d')).toEqual(['b.txt'])
    }
    forget(drive, '/d')
    drive.pass(ttlMs)
    expect(await drive.list('/d')).toEqual(['a.txt', 'b.txt'])
  })
})

describe('a rename', () => {
  function rename(drive: TreeSetup, from: string, folder: Node, name: string): Node {
    const node = at(drive, from)
    const { parent, name: before, stored } = node
    drive.tree.places.detach(node)
    drive.tree.places.attach(node, folder, name)
    node.unsent.copies()
    if (parent !== undefined) drive.tree.synced.touch(pathIn(parent, before), stored.fingerprint)
    return node
  }

  it('keeps the number: the old name is hidden, the new one is the same node', async () => {
    const drive = await open({ '/a.txt': 'a', '/d/b.txt': 'b' })
    await drive.list('/d')
    const { ino } = at(drive, '/a.txt')
    const node = rename(drive, '/a.txt', at(drive, '/d'), 'c.txt')
    expect(node.ino).toBe(ino)
    expect(node.path).toBe('/d/c.txt')
    expect(drive.tree.find('/d/c.txt')).toBe(node)
    expect(await drive.list()).toEqual(['d'])
    expect(await drive.list('/d')).toEqual(['b.txt', 'c.txt'])
    expect(at(drive, '/d/c.txt')).toBe(node)
  })

  it('keeps the number when the service has it and listings decide again', async () => {
    const drive = await open({ '/a.txt': 'a' })
    const node = rename(drive, '/a.txt', drive.tree.nodes.root, 'b.txt')
    await testService.other.delete('/a.txt')
    await drive.sent(node, 'a')
    drive.tree.synced.agree('/a.txt')
    for (const ms of [0, ttlMs, ttlMs]) {
      drive.pass(ms)
      expect(await drive.list()).toEqual(['b.txt'])
      expect(at(drive, '/b.txt')).toBe(node)
    }
    expect(drive.tree.nodes.root.folder?.kept.size).toBe(0)
  })

  it('of a folder keeps the numbers of all that is in it', async () => {
    const drive = await open({ '/d/s/a.txt': 'a' })
    await drive.list('/d')
    await drive.list('/d/s')
    const inos = ['/d', '/d/s', '/d/s/a.txt'].map((path) => at(drive, path).ino)
    rename(drive, '/d', drive.tree.nodes.root, 'e')
    expect(['/e', '/e/s', '/e/s/a.txt'].map((path) => drive.tree.find(path)?.ino)).toEqual(inos)
    expect(drive.tree.find('/d')).toBeUndefined()
  })

  it('leaves the old name to another number', async () => {
    const drive = await open({ '/a.txt': 'a' })
    const node = rename(drive, '/a.txt', drive.tree.nodes.root, 'b.txt')
    expect(drive.made('/a.txt').ino).not.toBe(node.ino)
  })
})

describe('a number', () => {
  it('is the same when a node that nobody held is looked up again', async () => {
    const drive = await open({ '/a.txt': 'a' })
    const node = at(drive, '/a.txt')
    drive.tree.nodes.dropIfUnused(node)
    expect(drive.tree.nodes.find(node.ino)).toBeUndefined()
    expect(at(drive, '/a.txt').ino).toBe(node.ino)
  })

  it('is another one when what was there is gone, and something is there again', async () => {
    const drive = await open({ '/a.txt': 'a' })
    const { ino } = at(drive, '/a.txt')
    await testService.other.delete('/a.txt')
    await drive.list()
    await testService.other.put('/a.txt', 'again')
    await drive.list()
    expect(at(drive, '/a.txt').ino).not.toBe(ino)
  })
})

describe('a conflict copy', () => {
  it('shows at once, not when the listing is old, and the door is told', async () => {
    const drive = await open({ '/a.txt': 'a' })
    await testService.other.put('/a (conflict).txt', 'theirs')
    await drive.tree.look('/a (conflict).txt')
    expect(drive.shown()).toContain('a (conflict).txt')
    expect(drive.told()).toEqual(['entry /a (conflict).txt', 'content /'])
  })

  it('costs no call where nobody knows its folder', async () => {
    const drive = await open({ '/d/a.txt': 'a' })
    testService.service.clearCalls()
    await drive.tree.look('/d/a (conflict).txt')
    await drive.tree.look('/e/a (conflict).txt')
    expect(testService.service.calls).toEqual([])
  })

  it('that cannot be asked for now takes nothing away', async () => {
    const drive = await open({ '/a.txt': 'a' })
    testService.service.faults.inject({ kind: 'status', status: 403 }, { method: 'GET', times: 1 })
    await drive.tree.look('/a (conflict).txt')
    expect(drive.shown()).toEqual(['a.txt'])
  })
})

describe('what is only here', () => {
  it('stays where no listing names it, and comes after what the service has', async () => {
    const drive = await open({ '/x.txt': 'x', '/d/y.txt': 'y' })
    await drive.list('/d')
    drive.made('/.a.txt.swp').local.markLocalOnly()
    drive.made('/d/.b.txt.swp').local.markLocalOnly()
    await testService.other.delete('/d')
    drive.pass(100 * ttlMs)
    expect(await drive.list()).toEqual(['x.txt', '.a.txt.swp', 'd'])
    expect(await drive.list('/d')).toEqual(['.b.txt.swp'])
  })

  it('keeps the folders above it, though the service has none of them', async () => {
    const drive = await open()
    drive.made('/d', 'folder')
    drive.made('/d/s', 'folder')
    const node = drive.made('/d/s/a.txt')
    drive.pass(100 * ttlMs)
    expect(await drive.list()).toEqual(['d'])
    expect(await drive.list('/d')).toEqual(['s'])
    expect(await drive.list('/d/s')).toEqual(['a.txt'])
    expect(drive.tree.find('/d/s/a.txt')).toBe(node)
    expect(drive.landed).toEqual([])
  })

  it('makes its folder not empty', async () => {
    const drive = await open({ '/d/a.txt': 'a' })
    await drive.list('/d')
    const folder = at(drive, '/d')
    expect(drive.tree.isEmpty(folder)).toBe(false)
    drive.tree.synced.touch('/d/a.txt', undefined)
    expect(drive.tree.isEmpty(folder)).toBe(true)
    drive.made('/d/b.txt')
    expect(drive.tree.isEmpty(folder)).toBe(false)
  })

  it.each(['deleted', 'moved away'])(
    'is what the listing above says when what it was kept for is %s, though more is known to be in it',
    async (how) => {
      const drive = await open({ '/d/f.txt': 'f', '/d/g.txt': 'g' })
      await drive.list('/d')
      await drive.sent(at(drive, '/d/f.txt'), 'new')
      const folder = at(drive, '/d')
      const document = at(drive, '/d/f.txt')
      drive.tree.places.keep(document)
      await testService.other.delete('/d')
      await testService.other.put('/d', 'a document now')
      drive.pass(ttlMs + 1)
      expect(await drive.list()).toEqual(['d'])
      expect(at(drive, '/d')).toBe(folder)
      drive.told()
      drive.journal.transaction(() => {
        if (how === 'deleted') return drive.tree.places.displace(document)
        drive.tree.places.detach(document)
        return drive.tree.places.attach(document, drive.tree.nodes.root, 'f.txt')
      })
      expect(at(drive, '/d')).toMatchObject({ kind: 'file', size: 14 })
      expect(folder.isUnlinked).toBe(true)
      expect(drive.told()).toContain('entry /d')
    },
  )

  it('goes with the next listing when nothing keeps it any more', async () => {
    const drive = await open()
    const node = drive.made('/a.txt')
    drive.tree.places.unkeep(node)
    expect(await drive.list()).toEqual([])
    expect(node.isUnlinked).toBe(true)
  })
})

function recordOf({ remote }: Node): RemoteFile {
  if (remote === undefined) throw new Error('the service has nothing of it')
  return remote
}

/** All that a program could see of a folder, and all that decides what it will see. */
function picture(drive: TreeSetup): unknown {
  const folders = [...drive.tree.nodes.all()].filter(({ folder }) => folder !== undefined)
  return folders.map((node) => ({
    path: node.path,
    times: [node.times.mtime, node.times.ctime],
    agreed: drive.tree.places.agreed(node)?.agreedAt,
    kept: [...(node.folder?.kept ?? [])].toSorted(),
    synced: structuredClone(Object.fromEntries(drive.tree.synced.in(node))),
    listed: [...(drive.tree.listings.known(node)?.names.keys() ?? [])].toSorted(),
    children: [...(node.folder?.children.values() ?? [])]
      .map((child) => {
        const { ino, path, name, isUnlinked, storedPath, unsent, stored } = child
        return {
          ino,
          path,
          name,
          isUnlinked,
          agreed: drive.tree.places.agreed(child)?.agreedAt,
          storedPath,
          base: unsent.base,
          is: stored.fingerprint,
        }
      })
      .toSorted((one, other) => one.ino - other.ino),
  }))
}

describe('a transaction of the journal that fails', () => {
  const changes: [string, (drive: TreeSetup) => void][] = [
    ['a name taken away', (drive) => drive.tree.places.displace(at(drive, '/a.txt'))],
    ['a delete', (drive) => {
      drive.tree.places.displace(at(drive, '/a.txt'))
      drive.tree.synced.touch('/a.txt', 'v1')
    }],
    ['a rename', (drive) => {
      const node = at(drive, '/a.txt')
      drive.tree.places.detach(node)
      drive.tree.places.attach(node, at(drive, '/d'), 'c.txt')
      drive.tree.versions.refer(node, '/a.txt')
      drive.tree.synced.touch('/a.txt', 'v1')
    }],
    ['a rename over another document', (drive) => {
      const node = at(drive, '/a.txt')
      drive.tree.places.displace(at(drive, '/d/b.txt'))
      drive.tree.places.detach(node)
      drive.tree.places.attach(node, at(drive, '/d'), 'b.txt')
    }],
    ['a document that is kept', (drive) => drive.tree.places.keep(at(drive, '/d/b.txt'))],
    ['a document that is not kept any more', (drive) => drive.tree.places.unkeep(at(drive, '/kept.txt'))],
    ['an arrival', (drive) => {
      const node = at(drive, '/kept.txt')
      drive.tree.versions.store(node, { ...recordOf(at(drive, '/a.txt')), name: node.name, size: 9 }, 0)
      drive.tree.places.settle(node)
    }],
    ['the end of a delete', (drive) => drive.tree.synced.agree('/hidden.txt', 'v2')],
    ['an arrival at a hidden name', (drive) => drive.tree.synced.arrived('/hidden.txt', 'v2')],
    ['a name that is not hidden any more', (drive) => drive.tree.synced.drop('/hidden.txt')],
    ['a document that is moved over a hidden name', (drive) => {
      const node = at(drive, '/a.txt')
      drive.tree.places.detach(node)
      drive.tree.places.attach(node, drive.tree.nodes.root, 'hidden.txt')
    }],
  ] // prettier-ignore

  it.each(changes)('leaves nothing of %s', async (_title, change) => {
    const drive = await open({ '/a.txt': 'a', '/d/b.txt': 'b', '/hidden.txt': 'hidden' })
    await drive.list('/d')
    for (const path of ['/a.txt', '/d/b.txt']) at(drive, path).door.remember()
    drive.made('/kept.txt')
    drive.tree.synced.touch('/hidden.txt', 'v1')
    const before = picture(drive)
    const shown = [drive.shown(), drive.shown('/d')]
    expect(() =>
      drive.journal.transaction(() => {
        change(drive)
        expect(picture(drive)).not.toEqual(before)
        throw new Error('the disk is full')
      }),
    ).toThrow('the disk is full')
    expect(picture(drive)).toEqual(before)
    expect([drive.shown(), drive.shown('/d')].map((names) => names.toSorted())).toEqual(
      shown.map((names) => names.toSorted()),
    )
    expect(drive.tree.versions.shownElsewhere('/a.txt')).toEqual([])
  })
})
