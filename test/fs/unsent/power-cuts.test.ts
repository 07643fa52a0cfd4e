// A power cut takes back what was not on disk yet: the drive starts with an older journal. Versions destroyed in the
// service by then must not be missed.

import { readlinkSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { createClient } from '../../../src/api/client.ts'
import { GroupSync } from '../../../src/content/spool/group-sync.ts'
import { Journal } from '../../../src/content/spool/journal.ts'
import { Intentions } from '../../../src/content/spool/tables/intentions.ts'
import { createFileSystem } from '../../../src/fs/file-system.ts'
import { type Disk, systemDisk } from '../../../src/world/disk.ts'
import { realWorld } from '../../../src/world/world.ts'
import { objectDoor } from '../../support/object-door.ts'
import { heldSyncs } from '../../support/held-syncs.ts'
import { openHeld, type HeldDrive } from '../../support/open-held.ts'
import { project, startTestService } from '../../support/service.ts'
import { makeTemporaryFolder } from '../../support/temporary-folder.ts'
import { waitUntil } from '../../support/wait-until.ts'

async function held(drive: HeldDrive, folder = '/'): Promise<Record<string, string>> {
  const documents = await drive.testService.other.documents(folder)
  return Object.fromEntries([...(documents ?? [])].map(([path, bytes]) => [path, bytes.toString()]))
}

async function expectQuiet(drive: HeldDrive, documents: Record<string, string>, folder = '/'): Promise<void> {
  await drive.drain()
  expect(await held(drive, folder)).toEqual(documents)
  expect(drive.fileSystem().status()).toMatchObject({ conflicts: 0, unsent: [] })
  expect((await drive.calls().readdir(folder)).sort()).toEqual(Object.keys(documents).sort())
}

describe('a power cut right after', () => {
  it('a rename: it is done, and nothing is taken for another client', async () => {
    await using drive = await openHeld({ '/a.txt': 'a' })
    await drive.calls().readdir('/')
    drive.hold('/b.txt')
    await drive.calls().rename('/a.txt', '/b.txt')
    await drive.reached('/b.txt')
    const journal = await drive.keepJournal()
    drive.release()
    await drive.drain()
    await drive.restart(journal)
    expect((await drive.calls().readFile('/b.txt')).toString()).toBe('a')
    await expectQuiet(drive, { 'b.txt': 'a' })
  })

  it('a rename over another document: it is done', async () => {
    await using drive = await openHeld({ '/a.txt': 'a', '/b.txt': 'the one before' })
    await drive.calls().readdir('/')
    drive.hold('/b.txt')
    await drive.calls().rename('/a.txt', '/b.txt')
    await drive.reached('/b.txt')
    const journal = await drive.keepJournal()
    drive.release()
    await drive.drain()
    await drive.restart(journal)
    await expectQuiet(drive, { 'b.txt': 'a' })
  })

  it('a rename of a folder: every document is at its new place', async () => {
    await using drive = await openHeld({ '/d/a.txt': 'a', '/d/b.txt': 'b' })
    await drive.calls().readdir('/d')
    drive.hold('/e/b.txt')
    await drive.calls().rename('/d', '/e')
    await drive.reached('/e/b.txt')
    const journal = await drive.keepJournal()
    drive.release()
    await drive.drain()
    await drive.restart(journal)
    await drive.drain()
    expect(await held(drive, '/e')).toEqual({ 'a.txt': 'a', 'b.txt': 'b' })
    expect(await drive.testService.other.get('/d')).toBeUndefined()
    expect(drive.fileSystem().status()).toMatchObject({ conflicts: 0, unsent: [] })
  })

  it.each([
    { what: 'a document', from: '/a.txt', to: '/b.txt', holds: {} },
    { what: 'a folder', from: '/d', to: '/e', holds: { '/d/a.txt': 'a' } },
    { what: 'a new folder', from: '/n', to: '/m', holds: {}, made: '/n' },
  ])('a rename of $what and back: the way back is answered when it is on disk', async (rename) => {
    const { from, to, holds, made } = rename
    const syncs = heldSyncs((path) => path.endsWith('-wal'))
    const world = { ...realWorld(), disk: syncs.disk }
    await using drive = await openHeld({ '/a.txt': 'a', ...holds }, { closeWaitMs: 0, world })
    await drive.calls().readdir('/')
    if (made !== undefined) await drive.calls().mkdir(made)
    await drive.calls().rename(from, to)
    syncs.hold()
    const back = drive.calls().rename(to, from)
    const asked = syncs.reached.then(() => 'asked the disk')
    const first = await Promise.race([back.then(() => 'answered'), asked])
    syncs.release()
    await back
    expect(first).toBe('asked the disk')
    await drive.drain()
    expect(await held(drive)).toMatchObject({ 'a.txt': 'a' })
  })

  it('a save whose backup could not be written at first: the backup is there', async () => {
    let failures = 0
    const disk: Disk = {
      ...systemDisk,
      async fdatasync(fd) {
        if (failures > 0 && readlinkSync(`/proc/self/fd/${fd}`).includes('/spool/')) {
          failures--
          throw Object.assign(new Error('EIO: the disk'), { code: 'EIO' })
        }
        await systemDisk.fdatasync(fd)
      },
    }
    const world = { ...realWorld(), disk }
    await using drive = await openHeld({ '/a.txt': 'before' }, { closeWaitMs: 0, world })
    await drive.calls().readdir('/')
    await drive.calls().rename('/a.txt', '/a.txt~')
    failures = 1
    drive.hold('/a.txt')
    await drive.calls().writeFile('/a.txt', 'after')
    await drive.reached('/a.txt')
    expect(failures).toBe(0)
    const journal = await drive.keepJournal()
    drive.release()
    await drive.drain()
    await drive.restart(journal)
    expect((await drive.calls().readFile('/a.txt~')).toString()).toBe('before')
    expect((await held(drive))['a.txt']).toBe('after')
  })

  it('a save whose backup was deleted meanwhile: that was on disk before the backup’s bytes went', async () => {
    const syncs = heldSyncs((path) => path.endsWith('-wal'))
    const world = { ...realWorld(), disk: syncs.disk }
    await using drive = await openHeld({ '/a.txt': 'before' }, { closeWaitMs: 0, world })
    await drive.calls().readdir('/')
    drive.holdDownload('/a.txt')
    await drive.calls().rename('/a.txt', '/a.txt~')
    await drive.calls().writeFile('/a.txt', 'after')
    await drive.reached('/a.txt')
    await drive.calls().unlink('/a.txt~')
    syncs.hold()
    drive.release()
    const isSent = async (): Promise<boolean> => (await held(drive))['a.txt'] === 'after'
    const sent = waitUntil('the save to be sent', isSent)
    const first = await Promise.race([sent.then(() => 'sent'), syncs.reached.then(() => 'asked the disk')])
    syncs.release()
    await sent
    expect(first).toBe('asked the disk')
  })

  describe('a large document arrived: what the older journal names is as it was saved, until it is on disk that it arrived', () => {
    const saved = Buffer.alloc(300_000, 'as it was saved ')

    interface Change {
      readonly wanted: Buffer
      /** A call that is answered only once that is on disk. */
      readonly answer?: () => Promise<void>
    }

    async function untilOnDisk(change: (drive: HeldDrive) => Promise<Change>): Promise<void> {
      let letSyncsGo = (): void => {}
      let syncs: Promise<void> | undefined
      const disk: Disk = {
        ...systemDisk,
        async fdatasync(fd) {
          if (readlinkSync(`/proc/self/fd/${fd}`).endsWith('-wal')) await syncs
          await systemDisk.fdatasync(fd)
        },
      }
      await using drive = await openHeld({}, { closeWaitMs: 0, world: { ...realWorld(), disk } })
      drive.hold('/a.txt')
      await drive.calls().writeFile('/a.txt', saved)
      await drive.reached('/a.txt')
      syncs = new Promise((resolve) => (letSyncsGo = resolve))
      let changed: Change
      try {
        drive.release()
        await drive.drain()
        changed = await change(drive)
        // Waits until the cache has taken it, if it does.
        expect((await drive.calls().readFile('/a.txt')).equals(changed.wanted)).toBe(true)
        expect((await drive.spooled()).some((bytes) => bytes.equals(saved))).toBe(true)
      } finally {
        letSyncsGo()
      }
      await changed.answer?.()
      await expect.poll(() => drive.spooled()).toEqual([])
      expect((await drive.calls().readFile('/a.txt')).equals(changed.wanted)).toBe(true)
    }

    it('and only read', () => untilOnDisk(async () => ({ wanted: saved })))

    it('and is written to', () =>
      untilOnDisk(async (drive) => {
        const file = await drive.calls().open('/a.txt', 'r+')
        await file.write('changed', 0)
        const wanted = Buffer.concat([Buffer.from('changed'), saved.subarray(7)])
        return { wanted, answer: () => file.close() }
      }))

    it('and is cut', () =>
      untilOnDisk(async (drive) => {
        const file = await drive.calls().open('/a.txt', 'r+')
        await file.truncate(200_000)
        return { wanted: saved.subarray(0, 200_000), answer: () => file.close() }
      }))
  })

  it('a delete: it is done', async () => {
    await using drive = await openHeld({ '/a.txt': 'a' })
    await drive.calls().readdir('/')
    await drive.calls().unlink('/a.txt')
    const journal = await drive.keepJournal()
    await drive.drain()
    await drive.restart(journal)
    await expectQuiet(drive, {})
  })
})

it('a document that was saved and deleted, unsent, and made anew is not taken for another client’s', async () => {
  let drive: HeldDrive | undefined
  let cut: ((stateDir: string) => Promise<void>) | undefined
  let isSlow = false
  const disk: Disk = {
    ...systemDisk,
    async fdatasync(fd) {
      const isLog = readlinkSync(`/proc/self/fd/${fd}`).endsWith('journal.db-wal')
      const synced = isLog ? await drive?.keepJournal() : undefined
      // A change that does not wait for the disk goes out meanwhile.
      if (isSlow) await Promise.race([drive?.reached('/a.txt'), setTimeout(1_500)])
      await systemDisk.fdatasync(fd)
      cut = synced ?? cut
    },
  }
  drive = await openHeld({}, { world: { ...realWorld(), disk } })
  await using open = drive
  const { service } = open.testService
  await open.calls().readdir('/')
  service.faults.inject({ kind: 'status', status: 403 }, { method: 'PUT' })
  await open.calls().writeFile('/a.txt', 'deleted')
  await expect.poll(() => service.calls.some(({ method }) => method === 'PUT')).toBe(true)
  isSlow = true
  await open.calls().unlink('/a.txt')
  service.faults.clear()
  open.hold('/a.txt')
  const saved = open.calls().writeFile('/a.txt', 'anew')
  await open.reached('/a.txt')
  const restore = cut
  open.release()
  await saved
  await open.drain()
  await open.restart(restore)
  await expectQuiet(open, { 'a.txt': 'anew' })
})

it('a version that was put back after a refusal is not taken for another client’s', async () => {
  let drive: HeldDrive | undefined
  let cut: ((stateDir: string) => Promise<void>) | undefined
  const puts = (): number =>
    drive?.testService.service.calls.filter(({ method }) => method === 'PUT').length ?? 0
  const disk: Disk = {
    ...systemDisk,
    async fdatasync(fd) {
      const isLog = readlinkSync(`/proc/self/fd/${fd}`).endsWith('journal.db-wal')
      const synced = isLog && puts() < 2 ? await drive?.keepJournal() : undefined
      await systemDisk.fdatasync(fd)
      cut = synced ?? cut
    },
  }
  drive = await openHeld({ '/a.txt': 'before' }, { world: { ...realWorld(), disk } })
  await using open = drive
  await open.calls().readFile('/a.txt')
  open.testService.service.clearCalls()
  open.testService.service.faults.inject({ kind: 'status', status: 403 }, { method: 'PUT', times: 1 })
  await open.calls().writeFile('/a.txt', 'after')
  await expect.poll(puts).toBeGreaterThan(1)
  await expect.poll(async () => (await held(open))['a.txt']).toBeDefined()
  await open.restart(cut)
  await expectQuiet(open, { 'a.txt': 'after' })
})

it.each<readonly [what: string, folder: RegExp, between: (drive: HeldDrive) => Promise<void>]>([
  ['', /blocks-\d+\/[0-9a-f]{2}$/, () => setTimeout(200)],
  [
    ', also of what was pinned until then,',
    /cache\/blocks-\d+\/[0-9a-f]{2}$/,
    async (drive) => {
      await drive.fileSystem().pin('/a.txt', { signal: AbortSignal.timeout(20_000) })
      await waitUntil('the pin', () => drive.fileSystem().pins()[0]?.state === 'here')
      drive.fileSystem().unpin('/a.txt')
      await setTimeout(200)
    },
  ],
])(
  'what the service may tell from the next save by nothing%s is not in the cache any more when that is sent',
  async (_what, folder, between) => {
    const syncs = heldSyncs((path) => folder.test(path))
    await using drive = await openHeld({}, { tellsTime: false, world: { ...realWorld(), disk: syncs.disk } })
    let wanted = ''
    let save = 0
    syncs.hold()
    // A version that was in the cache for longer is of another second: a machine that is busy needs another try.
    const saving = (async () => {
      do {
        wanted = `save ${save++ % 10}`
        await drive.calls().writeFile('/a.txt', wanted)
        await drive.drain()
        await between(drive)
      } while (save < Infinity)
    })()
    await syncs.reached
    expect((await held(drive))['a.txt']).not.toBe(wanted)
    save = Infinity
    syncs.release()
    await saving
    expect(await held(drive)).toEqual({ 'a.txt': wanted })
  },
)

it('names are on disk when fsync of a folder returns', async () => {
  await using drive = await openHeld({ '/d/a.txt': 'a' })
  await drive.calls().readdir('/d')
  await drive.calls().syncFolder('/d')
  await drive.calls().unlink('/d/a.txt')
  const synced = vi.spyOn(GroupSync.prototype, 'run')
  await drive.calls().syncFolder('/d')
  const results = synced.mock.results.map(({ value }) => value as Promise<void>)
  vi.restoreAllMocks()
  expect(results.length).toBeGreaterThan(0)
  await Promise.all(results)
  await expectQuiet(drive, {}, '/d')
})

it('what says that a copy stands is on disk before its source is deleted', async () => {
  const temporary = await makeTemporaryFolder()
  const service = await startTestService()
  await service.other.put('/a.txt', 'a')
  const client = createClient({ baseUrl: service.baseUrl, apiKey: service.apiKey })
  const files = client.files(project)
  const saved = vi.spyOn(Intentions.prototype, 'save')
  const synced = vi.spyOn(Journal.prototype, 'durable')
  const deleted = vi.spyOn(files, 'delete')
  const fileSystem = await createFileSystem({
    files,
    stateDir: `${temporary.path}/state`,
    cacheDir: `${temporary.path}/cache`,
  })
  await objectDoor(fileSystem).rename('/a.txt', '/b.txt')
  const [at] = deleted.mock.invocationCallOrder
  if (at === undefined) throw new Error('nothing was deleted')
  const proven = Math.max(...saved.mock.invocationCallOrder.filter((order) => order < at))
  expect(synced.mock.invocationCallOrder.some((order) => order > proven && order < at)).toBe(true)
  vi.restoreAllMocks()
  await fileSystem.close()
  await client.close()
  await service.close()
  await temporary.remove()
})
