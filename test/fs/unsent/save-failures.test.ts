// Documents that the disk here refuses to keep: each is named, tried again, and given up only with the drive.

import { readlinkSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { SaveFailures } from '../../../src/fs/unsent/save-failures.ts'
import { NodeTable } from '../../../src/fs/tree/node-table.ts'
import type { Node } from '../../../src/fs/tree/node.ts'
import { silentLog } from '../../../src/log.ts'
import { Spool } from '../../../src/content/spool/spool.ts'
import { type Disk, systemDisk } from '../../../src/world/disk.ts'
import { realWorld, type World } from '../../../src/world/world.ts'
import { openHeld } from '../../support/open-held.ts'

/** More than the journal takes. */
const content = 'refused '.repeat(5_000)

interface Broken {
  readonly world: World
  /** The call that the disk refuses for a file of the spool. */
  refuses: 'fdatasync' | 'ftruncate' | undefined
}

function brokenWorld(): Broken {
  const isRefused = (call: Broken['refuses'], fd: number): boolean =>
    broken.refuses === call && readlinkSync(`/proc/self/fd/${fd}`).includes('/spool/')
  const refuse = (): Promise<never> =>
    Promise.reject(Object.assign(new Error('EIO: the disk'), { code: 'EIO' }))
  const disk: Disk = {
    ...systemDisk,
    fdatasync: (fd) => (isRefused('fdatasync', fd) ? refuse() : systemDisk.fdatasync(fd)),
    ftruncate: (fd, size) => (isRefused('ftruncate', fd) ? refuse() : systemDisk.ftruncate(fd, size)),
  }
  const broken: Broken = { world: { ...realWorld(), disk }, refuses: 'fdatasync' }
  return broken
}

describe('what the disk here refuses', () => {
  it('is named with the reason, and arrives by itself when the disk is well', async () => {
    const broken = brokenWorld()
    await using drive = await openHeld({ '/a.txt': 'before' }, { world: broken.world })
    await expect(drive.calls().writeFile('/a.txt', content)).rejects.toMatchObject({ code: 'EIO' })
    const unkept = { path: '/a.txt', action: 'replace', state: 'unkept', bytes: 40_000 }
    expect(drive.fileSystem().status().unsent).toMatchObject([unkept])
    expect(drive.fileSystem().status().unsent[0]?.lastError).toContain('EIO')
    expect(await drive.fileSystem().place('/a.txt')).toMatchObject({ state: 'unsent', unsent: unkept })
    broken.refuses = undefined
    await expect.poll(async () => (await drive.testService.other.bytes('/a.txt')).toString()).toBe(content)
    await drive.drain()
    expect(await drive.fileSystem().place('/a.txt')).toMatchObject({ state: 'stored' })
  })

  it('is what wait, retry and drain tell of, and recover copies out', async () => {
    const broken = brokenWorld()
    await using drive = await openHeld({}, { world: broken.world })
    const fileSystem = drive.fileSystem()
    await expect(drive.calls().writeFile('/a.txt', content)).rejects.toMatchObject({ code: 'EIO' })
    await expect(fileSystem.wait('/', { timeoutMs: 20_000 })).rejects.toMatchObject({ code: 'EIO' })
    expect(await fileSystem.drain({ timeoutMs: 20_000 })).toMatchObject([{ path: '/a.txt', state: 'unkept' }])
    const folder = await mkdtemp(join(tmpdir(), 'recovered-'))
    await fileSystem.recover('/a.txt', join(folder, 'a.txt'))
    expect(await readFile(join(folder, 'a.txt'), 'utf8')).toBe(content)
    await rm(folder, { recursive: true })
    broken.refuses = undefined
    expect(fileSystem.retry('/')).toBe(1)
    await fileSystem.wait('/', { timeoutMs: 20_000 })
    expect((await drive.testService.other.bytes('/a.txt')).toString()).toBe(content)
  })

  it('is not named any more when it was saved anew, or deleted', async () => {
    const broken = brokenWorld()
    await using drive = await openHeld({}, { world: broken.world })
    for (const path of ['/a.txt', '/b.txt'])
      await expect(drive.calls().writeFile(path, content)).rejects.toMatchObject({ code: 'EIO' })
    await drive.calls().writeFile('/a.txt', 'little')
    await drive.calls().unlink('/b.txt')
    await drive.drain()
    expect(await drive.testService.other.documents('/')).toEqual(new Map([['a.txt', Buffer.from('little')]]))
  })

  it('leaves what an earlier close accepted to be sent after a restart, and lies in lost+found itself', async () => {
    const broken = brokenWorld()
    await using drive = await openHeld({}, { world: broken.world })
    drive.hold('/a.txt')
    await drive.calls().writeFile('/a.txt', 'accepted')
    await expect(drive.calls().writeFile('/a.txt', content)).rejects.toMatchObject({ code: 'EIO' })
    await drive.restart()
    drive.release()
    await drive.drain()
    expect((await drive.testService.other.bytes('/a.txt')).toString()).toBe('accepted')
    expect(drive.fileSystem().status().lost).toMatchObject([{ path: '/a.txt', bytes: 40_000 }])
  })

  it('is kept by a drive that ends, where the disk takes it by then', async () => {
    const broken = brokenWorld()
    await using drive = await openHeld({ '/a.txt': 'before' }, { world: broken.world })
    await expect(drive.calls().writeFile('/a.txt', content)).rejects.toMatchObject({ code: 'EIO' })
    broken.refuses = undefined
    await drive.restart()
    await drive.drain()
    expect((await drive.testService.other.bytes('/a.txt')).toString()).toBe(content)
    expect(drive.fileSystem().status().lost).toEqual([])
  })

  it('by truncate(2) is tried again, too', async () => {
    const broken = brokenWorld()
    await using drive = await openHeld({ '/a.txt': 'before' }, { world: broken.world })
    await expect(drive.calls().truncate('/a.txt', 40_000)).rejects.toMatchObject({ code: 'EIO' })
    expect(drive.fileSystem().status().unsent).toMatchObject([{ path: '/a.txt', state: 'unkept' }])
    broken.refuses = undefined
    await expect.poll(() => drive.fileSystem().status().unsent).toEqual([])
    expect(await drive.testService.other.bytes('/a.txt')).toHaveLength(40_000)
  })

  it('to cut or to extend stays as it was, and keeps nothing waiting', async () => {
    const broken = brokenWorld()
    broken.refuses = 'ftruncate'
    await using drive = await openHeld({ '/a.txt': 'before' }, { world: broken.world })
    await expect(drive.calls().truncate('/a.txt', 40_000)).rejects.toMatchObject({ code: 'EIO' })
    expect(drive.fileSystem().status().unsent).toMatchObject([{ path: '/a.txt', state: 'unkept' }])
    expect((await drive.calls().readFile('/a.txt')).toString()).toBe('before')
    broken.refuses = undefined
    await expect.poll(() => drive.fileSystem().status().unsent).toEqual([])
    expect((await drive.testService.other.bytes('/a.txt')).toString()).toBe('before')
  })
})

describe('a disk that refuses for hours', () => {
  const rows = { save() {}, remove() {}, forget() {}, get: () => undefined }
  let dir: string
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'unkept-'))
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  })
  afterEach(async () => {
    vi.useRealTimers()
    await rm(dir, { recursive: true })
  })

  it('is asked a few times a minute, however many documents wait, and not at all when none is left', async () => {
    const world = realWorld()
    const spool = new Spool(dir, rows, world)
    const nodes = new NodeTable()
    let asked = 0
    let isBroken = true
    const failures: SaveFailures = new SaveFailures({
      ...world,
      log: silentLog,
      tell: () => {},
      async keep(node: Node) {
        asked++
        if (!isBroken) return node.local.saved()
        failures.refused(node, new Error('no room'))
        throw new Error('no room')
      },
    })
    for (let n = 0; n < 500; n++) {
      const node = nodes.add('file', nodes.root, `${n}.txt`)
      node.local.become(spool.create(node.name))
      failures.refused(node, new Error('no room'))
      node.content?.idle()
    }
    expect(failures.under('/')).toHaveLength(500)
    await vi.advanceTimersByTimeAsync(3_600_000)
    expect(asked).toBeGreaterThan(60)
    expect(asked).toBeLessThan(500)
    isBroken = false
    await vi.advanceTimersByTimeAsync(60_000)
    expect(failures.under('/')).toEqual([])
    expect(vi.getTimerCount()).toBe(0)
    await failures.close()
  })

  it('is asked for what it refuses later, too, where nothing was left when it was to be asked before', async () => {
    const nodes = new NodeTable()
    const spool = new Spool(dir, rows, realWorld())
    const failures: SaveFailures = new SaveFailures({
      ...realWorld(),
      log: silentLog,
      tell: () => {},
      keep: async (node: Node) => node.local.saved(),
    })
    const refused = (name: string): Node => {
      const node = nodes.add('file', nodes.root, name)
      node.local.become(spool.create(name))
      failures.refused(node, new Error('no room'))
      return node
    }
    // Saved anew, by its program, before it is tried again.
    refused('a.txt').local.saved()
    await vi.advanceTimersByTimeAsync(60_000)
    const later = refused('b.txt')
    await vi.advanceTimersByTimeAsync(60_000)
    expect(later.isDirty).toBe(false)
    await failures.close()
  })
})
