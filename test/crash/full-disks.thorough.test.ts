// Full and broken folders of docmount itself: rows of the fault table in docs/reliability.md.

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

import { afterEach, describe, expect, it } from 'vitest'

import { patternedBytes } from '../support/bytes.ts'
import type { OpenFile } from '../support/door.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { run } from '../support/run.ts'
import { errorOf, useFaultDrive } from './fault-drive.ts'

const isRoot = process.getuid?.() === 0

describe.skipIf(whyNoFuse() !== undefined)('full disks', () => {
  const fault = useFaultDrive()

  afterEach(async () => {
    await run('umount', ['-l', join(fault.folder, 'small')], { mayFail: true })
  })

  /** A file system of its own, so that it can be full. */
  async function smallDisk(size: string): Promise<string> {
    const folder = join(fault.folder, 'small')
    await run('mkdir', ['-p', folder])
    await run('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=0700`, 'tmpfs', folder])
    return folder
  }

  it.skipIf(!isRoot)(
    'disk full in the state folder: write is ENOSPC, what was saved before arrives',
    async () => {
      const small = await smallDisk('12m')
      const { calls, drain } = await fault.mount([
        '--state-dir',
        join(small, 'state'),
        '--close-wait',
        '200ms',
      ])
      await calls.readdir('')
      await fault.service.stop()
      await calls.writeFile('/before.txt', 'saved before the disk was full')
      expect(await errorOf(calls.writeFile('/large.pdf', patternedBytes(16_000_000, 'large')))).toBe('ENOSPC')
      // Another program takes what is left, to the last byte.
      await run('sh', ['-c', 'cat /dev/zero > "$1/theirs" 2>/dev/null || true', 'sh', small])
      expect(await errorOf(calls.writeFile('/little.txt', 'no room'))).toBe('ENOSPC')
      expect((await calls.readFile('/before.txt')).toString()).toBe('saved before the disk was full')
      await fault.service.start()
      await drain()
      expect(await fault.held('/before.txt')).toBe('saved before the disk was full')
      await calls.unlink('/large.pdf')
      await calls.unlink('/before.txt')
      await drain()
      expect(await fault.held('/before.txt')).toBeUndefined()
      await run('rm', [join(small, 'theirs')])
      await calls.writeFile('/after.txt', 'there is room again')
      await drain()
      expect(await fault.held('/after.txt')).toBe('there is room again')
    },
  )

  it.skipIf(!isRoot)(
    'disk full when documents are closed: those it refuses are named, unmount leaves the drive, and all arrive when there is room',
    async () => {
      const small = await smallDisk('24m')
      const { calls, docmount, mountpoint, status, drain, unmount } = await fault.mount([
        '--state-dir',
        join(small, 'state'),
      ])
      await calls.readdir('')
      await fault.service.stop()
      // Together more than the journal has set aside for itself.
      const content = patternedBytes(16_000, 'small enough for the journal')
      const files = new Map<string, OpenFile>()
      for (let n = 0; n < 500; n++) {
        const file = await calls.open(`/${n}.txt`, 'w')
        files.set(`/${n}.txt`, file)
        await file.write(content, 0)
      }
      await run('sh', ['-c', 'cat /dev/zero > "$1/theirs" 2>/dev/null || true', 'sh', small])
      const refused: string[] = []
      for (const [path, file] of files) if ((await errorOf(file.close())) === 'ENOSPC') refused.push(path)
      expect(refused.length).toBeGreaterThan(0)
      const unkept = async (): Promise<string[]> =>
        (await status()).unsent.filter(({ state }) => state === 'unkept').map(({ path }) => path)
      await expect.poll(async () => (await unkept()).sort()).toEqual(refused.toSorted())
      const [first = ''] = refused
      expect((await docmount(['status', mountpoint])).stdout).toMatch(
        /upload {2}not safe {2}15\.6 KiB {2}\(the disk of this/,
      )
      const place = await docmount(['status', join(mountpoint, first)])
      expect(place.stdout).toContain('not safe: the disk of this machine refuses it')
      const stays = await docmount(['unmount', mountpoint, '--timeout', '1s'], { mayFail: true })
      expect(stays).toMatchObject({ code: 1, stderr: expect.stringContaining('is not safe') as string })
      expect((await calls.readFile(first)).equals(content)).toBe(true)
      await run('rm', [join(small, 'theirs')])
      // A temporary refusal is tried again once in a minute.
      await expect.poll(unkept).toEqual([])
      await fault.service.start()
      await drain()
      for (const path of refused) expect((await fault.service.other.bytes(path)).equals(content)).toBe(true)
      await unmount()
    },
  )

  it.skipIf(!isRoot)('what is kept for undo makes room before a save is refused', async () => {
    const small = await smallDisk('64m')
    const { calls, docmount, mountpoint, drain } = await fault.mount([
      '--undo',
      '30d',
      '--state-dir',
      join(small, 'state'),
    ])
    const [spool = ''] = (await readdir(small, { recursive: true }))
      .filter((name) => name.endsWith('spool'))
      .map((name) => join(small, name))
    for (let version = 0; version < 6; version++) {
      await calls.writeFile('/a.pdf', patternedBytes(6_000_000, `version ${version}`))
      await drain()
      // The cache takes over what was sent.
      await expect.poll(async () => (await readdir(spool)).filter((name) => name.includes('pdf'))).toEqual([])
    }
    const kept = async (): Promise<number> => {
      const { stdout } = await docmount(['versions', join(mountpoint, 'a.pdf'), '--json'])
      return (JSON.parse(stdout) as { missing?: string }[]).filter(({ missing }) => missing === undefined)
        .length
    }
    expect(await kept()).toBeGreaterThan(2)
    await fault.service.stop()
    const saved = patternedBytes(40_000_000, 'is saved where nothing is left')
    await calls.writeFile('/saved.pdf', saved)
    expect(await kept()).toBe(0)
    await fault.service.start()
    await drain()
    expect((await fault.service.other.bytes('/saved.pdf')).equals(saved)).toBe(true)
  })

  it.skipIf(!isRoot)('cache and state on one full disk: what is only cached makes room', async () => {
    const small = await smallDisk('96m')
    const cached = patternedBytes(40_000_000, 'was read, and is in the service')
    const saved = patternedBytes(8_000_000, 'is saved where nothing is left')
    await fault.service.other.put('/cached.pdf', cached)
    const { calls, docmount, mountpoint, drain } = await fault.mount([
      '--state-dir',
      join(small, 'state'),
      '--cache-dir',
      join(small, 'cache'),
    ])
    expect((await calls.readFile('/cached.pdf')).equals(cached)).toBe(true)
    await expect
      .poll(async () => (await docmount(['cache', mountpoint, '--json'])).stdout)
      .toMatch(/"cachedBytes":[2-4]\d{7}\b/)
    await fault.service.stop()
    await run('sh', ['-c', 'cat /dev/zero > "$1/theirs" 2>/dev/null || true', 'sh', small])
    // Free space, which a file manager asks for before it copies.
    await expect
      .poll(async () => Number((await run('stat', ['-f', '-c', '%a', mountpoint])).stdout) * 4096)
      .toBeGreaterThan(saved.length)
    await calls.writeFile('/saved.pdf', saved)
    expect((await calls.readFile('/saved.pdf')).equals(saved)).toBe(true)
    await fault.service.start()
    await drain()
    expect((await fault.service.other.bytes('/saved.pdf')).equals(saved)).toBe(true)
    expect((await calls.readFile('/cached.pdf')).equals(cached)).toBe(true)
  })

  it.skipIf(!isRoot)('cache folder full: reads go on without it', async () => {
    const small = await smallDisk('1m')
    const content = patternedBytes(8_000_000, 'larger than the cache disk')
    await fault.service.other.put('/a.pdf', content)
    const { calls } = await fault.mount(['--cache-dir', join(small, 'cache')])
    expect((await calls.readFile('/a.pdf')).equals(content)).toBe(true)
    await calls.writeFile('/b.pdf', content)
    expect((await calls.readFile('/b.pdf')).equals(content)).toBe(true)
    expect((await fault.service.other.bytes('/b.pdf')).equals(content)).toBe(true)
  })

  it('cache folder unwritable: reads go on without it', async () => {
    const content = patternedBytes(3_000_000, 'no cache')
    await fault.service.other.put('/a.pdf', content)
    const cache = join(fault.folder, 'broken-cache')
    const { calls } = await fault.mount(['--cache-dir', cache])
    await run('sh', ['-c', 'rm -rf "$1"/* && touch "$1/file" && rm -rf "$1" && touch "$1"', 'sh', cache])
    expect((await calls.readFile('/a.pdf')).equals(content)).toBe(true)
    await calls.writeFile('/b.txt', 'written all the same')
    expect(await fault.held('/b.txt')).toBe('written all the same')
  })
})
