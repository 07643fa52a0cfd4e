// A save that close accepted is being written over when the daemon is killed: the service gets it whole, whatever the
// rewrite had done by then.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { patternedBytes } from '../support/bytes.ts'
import type { Calls } from '../support/door.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { useFaultDrive } from './fault-drive.ts'

const sizes = [4_000, 200_000, 5_000_000]

/** Half of a save, by a program that never comes to its close. */
const rewrites: Readonly<Record<string, (calls: Calls, path: string, size: number) => Promise<void>>> = {
  async truncate(calls, path, size) {
    const file = await calls.open(path, 'r+')
    await file.truncate(Math.floor(size / 3))
  },
  async emptied(calls, path) {
    await calls.open(path, 'w')
  },
  async overwrite(calls, path, size) {
    const file = await calls.open(path, 'w')
    await file.write(Buffer.alloc(Math.floor(size / 2), 'half'), 0)
  },
  async append(calls, path, size) {
    const file = await calls.open(path, 'a')
    await file.write(Buffer.alloc(Math.floor(size / 2), 'more'), 0)
  },
  async middle(calls, path, size) {
    const file = await calls.open(path, 'r+')
    await file.write(Buffer.alloc(1_000, 'torn'), Math.floor(size / 2))
    await file.write(Buffer.alloc(10, 'torn'), 0)
  },
}

const mapped = `
import ctypes, mmap, sys, time
with open(sys.argv[1], 'r+b') as file, mmap.mmap(file.fileno(), 0) as memory:
    memory[0:4] = b'torn'
    # Written out, but not by fsync, which would be a save of its own.
    whole = ctypes.c_int64(0)
    ctypes.CDLL(None).sync_file_range(file.fileno(), whole, whole, 7)
    print('written', flush=True)
    time.sleep(600)
`

const cutShort = `
import os, sys, time
file = open(sys.argv[1], 'r+b')
file.truncate(5)
os.close(os.dup(file.fileno()))
print('cut', flush=True)
time.sleep(600)
`

const redirected = `
import os, sys, time
file = open(sys.argv[1], 'w')
os.close(os.dup(file.fileno()))
print('emptied', flush=True)
time.sleep(600)
`

describe.skipIf(whyNoFuse() !== undefined)('killed in the middle of a rewrite', () => {
  const fault = useFaultDrive()

  it.each([
    ['sent later by --close-wait 0', ['--close-wait', '0'], false],
    ['while the service is away', ['--close-wait', '200ms'], true],
  ])('what was saved before, %s, arrives whole', async (_, args, isAway) => {
    const documents = Object.keys(rewrites).flatMap((kind) =>
      sizes.map((size) => ({ kind, size, path: `/${kind}-${size}.txt` })),
    )
    const before = await fault.mount(args)
    await before.calls.readdir('')
    if (isAway) await fault.service.stop()
    for (const { path, size } of documents) await before.calls.writeFile(path, patternedBytes(size, path))
    for (const { kind, path, size } of documents) await rewrites[kind]?.(before.calls, path, size)
    await before.kill()
    if (isAway) await fault.service.start()
    const { calls, drain, status } = await fault.mount(args)
    for (const { path, size } of documents) {
      const shown = await calls.readFile(path)
      expect([path, shown.equals(patternedBytes(size, path))]).toEqual([path, true])
    }
    await drain()
    for (const { path, size } of documents) {
      const held = await fault.service.other.bytes(path)
      expect([path, held.equals(patternedBytes(size, path))]).toEqual([path, true])
    }
    expect(await status()).toMatchObject({ conflicts: 0, unsent: [] })
  })

  it('through a mapping: what was saved before arrives whole', async () => {
    const content = patternedBytes(200_000, 'mapped')
    const before = await fault.mount(['--close-wait', '200ms'])
    await before.calls.readdir('')
    await fault.service.stop()
    await before.calls.writeFile('/a.pdf', content)
    const program = spawn('python3', ['-c', mapped, join(before.mountpoint, 'a.pdf')])
    await once(program.stdout, 'data')
    await before.kill()
    program.kill('SIGKILL')
    await fault.service.start()
    const { drain } = await fault.mount()
    await drain()
    expect((await fault.service.other.bytes('/a.pdf')).equals(content)).toBe(true)
  })

  /** Both documents after a crash in the middle of `program`: one that the service held, and one not yet sent. */
  async function afterCrashIn(program: string, content: Buffer): Promise<readonly Buffer[]> {
    await fault.service.other.put('/stored.pdf', content)
    const before = await fault.mount(['--close-wait', '200ms'])
    await before.calls.readFile('/stored.pdf')
    await fault.service.stop()
    await before.calls.writeFile('/saved.pdf', content)
    const programs = ['stored.pdf', 'saved.pdf'].map((name) =>
      spawn('python3', ['-c', program, join(before.mountpoint, name)]),
    )
    for (const { stdout } of programs) await once(stdout, 'data')
    await before.kill()
    for (const running of programs) running.kill('SIGKILL')
    await fault.service.start()
    const { drain } = await fault.mount()
    await drain()
    return Promise.all(['/stored.pdf', '/saved.pdf'].map((path) => fault.service.other.bytes(path)))
  }

  // A shell closes a duplicate of what it has opened before the command begins to write.
  it('emptied by a shell that redirects into it: what was saved before stays', async () => {
    const content = patternedBytes(200_000, 'redirected')
    const [stored, saved] = await afterCrashIn(redirected, content)
    expect(['stored', stored?.equals(content)]).toEqual(['stored', true])
    expect(['saved', saved?.equals(content)]).toEqual(['saved', true])
  })

  it('cut short and closed, before the kernel lets go of it: it is cut', async () => {
    const [stored, saved] = await afterCrashIn(cutShort, patternedBytes(200_000, 'cut'))
    expect(['stored', stored?.length]).toEqual(['stored', 5])
    expect(['saved', saved?.length]).toEqual(['saved', 5])
  })

  it('renamed meanwhile: what was saved before arrives whole, under the new name', async () => {
    const content = patternedBytes(200_000, 'renamed')
    await fault.service.other.put('/stored.txt', content)
    const before = await fault.mount(['--close-wait', '200ms'])
    await before.calls.readFile('/stored.txt')
    await fault.service.stop()
    await before.calls.writeFile('/a.txt', content)
    for (const path of ['/a.txt', '/stored.txt']) {
      const file = await before.calls.open(path, 'r+')
      await file.write('torn', 0)
      await before.calls.rename(path, `${path}.txt`)
    }
    await before.kill()
    await fault.service.start()
    const { calls, docmount, drain, mountpoint, status } = await fault.mount()
    await drain()
    expect((await calls.readdir('')).sort()).toEqual(['a.txt.txt', 'stored.txt.txt'])
    for (const path of ['/a.txt.txt', '/stored.txt.txt'])
      expect([path, (await fault.service.other.bytes(path)).equals(content)]).toEqual([path, true])
    expect(await status()).toMatchObject({ conflicts: 0, unsent: [] })
    // Half-written content is no save, and not thrown away.
    expect((await docmount(['status', mountpoint])).stdout).toMatch(/a\.txt.*never closed.*lost\+found/)
    const found = join(fault.folder, 'found')
    await docmount(['recover', '--lost', mountpoint, found])
    expect((await readdir(found)).sort()).toEqual(['a.txt', 'stored.txt'])
    expect((await status()).lost).toEqual([])
  })
})
