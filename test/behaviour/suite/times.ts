// Times and permission bits: kept on this machine, since the service has no place for them.

import { expect } from 'vitest'

import type { Topic } from '../topic.ts'

/** 2001-02-03 04:05:06 UTC. */
const longAgoSec = 981_173_106
const longAgoNs = BigInt(longAgoSec) * 1_000_000_000n

export const times: Topic = (it) => {
  it('a modification time that was set is told', { 'a.txt': 'a' }, async ({ door, at }) => {
    await door.utimes(at('a.txt'), longAgoSec, longAgoSec)
    expect((await door.stat(at('a.txt'))).mtimeNs).toBe(longAgoNs)
  })

  it('access time and modification time are set apart', { 'a.txt': 'a' }, async ({ door, at }) => {
    await door.utimes(at('a.txt'), longAgoSec + 86_400, longAgoSec)
    expect((await door.stat(at('a.txt'))).mtimeNs).toBe(longAgoNs)
  })

  it('a modification time set after a write outlives reading', async ({ door, at }) => {
    await door.writeFile(at('a.txt'), 'a')
    await door.utimes(at('a.txt'), longAgoSec, longAgoSec)
    await door.readFile(at('a.txt'))
    expect((await door.stat(at('a.txt'))).mtimeNs).toBe(longAgoNs)
  })

  it('a modification time set while the file is open outlives its close', async ({ door, at }) => {
    const file = await door.open(at('a.txt'), 'w')
    await file.write('a', 0)
    await door.utimes(at('a.txt'), longAgoSec, longAgoSec)
    await file.close()
    expect((await door.stat(at('a.txt'))).mtimeNs).toBe(longAgoNs)
  })

  it('a modification time goes with the file when it is renamed', { 'a.txt': 'a' }, async ({ door, at }) => {
    await door.utimes(at('a.txt'), longAgoSec, longAgoSec)
    await door.rename(at('a.txt'), at('b.txt'))
    expect((await door.stat(at('b.txt'))).mtimeNs).toBe(longAgoNs)
  })

  it('a modification time set on a temporary file goes with its rename, as rsync does it', async ({
    door,
    at,
  }) => {
    const temporary = at('.a.txt.X7b2Qe')
    const file = await door.open(temporary, 'wx', 0o600)
    await file.write('a', 0)
    await file.close()
    await door.utimes(temporary, longAgoSec, longAgoSec)
    await door.chmod(temporary, 0o644)
    const again = await door.open(temporary, 'r')
    await again.close()
    await door.rename(temporary, at('a.txt'))
    expect((await door.stat(at('a.txt'))).mtimeNs).toBe(longAgoNs)
  })

  it('a write moves the modification time on', async ({ door, at }) => {
    await door.writeFile(at('a.txt'), 'a')
    await door.utimes(at('a.txt'), longAgoSec, longAgoSec)
    await door.appendFile(at('a.txt'), 'b')
    expect((await door.stat(at('a.txt'))).mtimeNs).toBeGreaterThan(longAgoNs)
  })

  it('a write leaves the access time where it was', async ({ door, at }) => {
    await door.writeFile(at('a.txt'), 'a')
    await door.utimes(at('a.txt'), longAgoSec, longAgoSec)
    await door.appendFile(at('a.txt'), 'b')
    const { atimeNs, mtimeNs } = await door.stat(at('a.txt'))
    expect(atimeNs).toBe(longAgoNs)
    expect(mtimeNs).toBeGreaterThan(longAgoNs)
  })

  it(
    'a rename moves the change time of a document, and no other',
    { 'given.txt': 'a' },
    async ({ door, folder, at }) => {
      await door.writeFile(at('made.txt'), 'b')
      for (const name of ['given.txt', 'made.txt']) {
        await door.utimes(at(name), longAgoSec, longAgoSec)
        const before = await door.stat(at(name))
        // A clock counts in milliseconds, some in several.
        await new Promise((resolve) => setTimeout(resolve, 20))
        await door.rename(at(name), at(`new ${name}`))
        const isLater = async (): Promise<void> => {
          const after = await door.stat(at(`new ${name}`))
          expect([after.mtimeNs, after.atimeNs]).toEqual([longAgoNs, longAgoNs])
          expect(after.ctimeNs).toBeGreaterThan(before.ctimeNs)
        }
        await isLater()
        await door.behind.check(folder, new Set())
        await isLater()
      }
    },
  )

  it('a folder’s times say when its names changed', async ({ door, at }) => {
    await door.mkdir(at('here'))
    await door.mkdir(at('there'))
    const changes: readonly [string, () => Promise<void>, readonly ('here' | 'there')[]][] = [
      ['a new document', () => door.writeFile(at('here/a.txt'), 'a'), ['here']],
      ['a rename', () => door.rename(at('here/a.txt'), at('here/b.txt')), ['here']],
      ['a move', () => door.rename(at('here/b.txt'), at('there/b.txt')), ['here', 'there']],
      ['a new folder', () => door.mkdir(at('here/inner')), ['here']],
      ['a moved folder', () => door.rename(at('here/inner'), at('there/inner')), ['here', 'there']],
      ['a removed folder', () => door.rmdir(at('there/inner')), ['there']],
      ['a deleted document', () => door.unlink(at('there/b.txt')), ['there']],
    ]
    for (const [what, change, moved] of changes) {
      const ctimes = new Map<string, bigint>()
      for (const name of ['here', 'there']) {
        await door.utimes(at(name), longAgoSec, longAgoSec)
        ctimes.set(name, (await door.stat(at(name))).ctimeNs)
      }
      // A clock counts in milliseconds, some in several.
      await new Promise((resolve) => setTimeout(resolve, 20))
      await change()
      for (const name of ['here', 'there'] as const) {
        const { mtimeNs, ctimeNs } = await door.stat(at(name))
        const isMoved = moved.includes(name)
        expect(mtimeNs > longAgoNs, `mtime of ${name} after ${what}`).toBe(isMoved)
        expect(ctimeNs > (ctimes.get(name) ?? 0n), `ctime of ${name} after ${what}`).toBe(isMoved)
      }
    }
  })

  it('a folder’s times stay while its documents are read and written', async ({ door, folder, at }) => {
    await door.writeFile(at('a.txt'), 'a')
    await door.utimes(folder, longAgoSec, longAgoSec)
    const before = await door.stat(folder)
    await door.appendFile(at('a.txt'), 'b')
    await door.readFile(at('a.txt'))
    await door.readdir(folder)
    const after = await door.stat(folder)
    expect([after.mtimeNs, after.ctimeNs]).toEqual([longAgoNs, before.ctimeNs])
  })

  it('fractions of a second are kept', { 'a.txt': 'a' }, async ({ door, at }) => {
    await door.utimes(at('a.txt'), longAgoSec + 0.25, longAgoSec + 0.25)
    expect((await door.stat(at('a.txt'))).mtimeNs).toBe(longAgoNs + 250_000_000n)
  })

  it('permission bits that were set are told', { 'a.txt': 'a' }, async ({ door, at }) => {
    await door.chmod(at('a.txt'), 0o640)
    expect((await door.stat(at('a.txt'))).mode).toBe(0o640)
  })
}
