// `docmount resolve`: the end of a conflict, and what a kill leaves of it.

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { MountStatus } from '../../src/daemon/control-protocol.ts'
import { inDrive, startDesk, type Desk } from '../support/desk.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { waitUntil } from '../support/wait-until.ts'

let desk: Desk
beforeEach(async () => {
  desk = await startDesk()
})
afterEach(() => desk.close())

const content = async (path: string): Promise<string> => {
  const r = await inDrive('cat', path)
  if (r.code !== 0) console.log(r)
  return r.stdout
}

async function statusOf(drive: string): Promise<MountStatus> {
  return JSON.parse((await desk.docmount('status', drive, '--json')).stdout) as MountStatus
}

/** Documents of the folder in the service, by name. */
async function stored(): Promise<Record<string, string>> {
  // A look at a folder that changes meanwhile tells nothing.
  const documents = await waitUntil('a look', () => desk.testService.other.documents('/in'))
  return Object.fromEntries([...documents].map(([name, bytes]) => [name, bytes.toString()]))
}

/** Both have saved: `ours` is in place, and `theirs` beside it. Returns the name of that copy. */
async function quarrel(drive: string, ours = 'ours', theirs = 'theirs'): Promise<string> {
  const before = new Set((await statusOf(drive)).conflictCopies.map(({ copy }) => copy))
  await inDrive('cat', join(drive, 'in/a.txt'))
  await desk.testService.other.put('/in/a.txt', theirs)
  await desk.save(join(drive, 'in/a.txt'), ours)
  await desk.docmount('wait', drive)
  const { conflictCopies } = await statusOf(drive)
  const made = conflictCopies.find(({ copy }) => !before.has(copy))
  if (made === undefined) throw new Error('there is no conflict')
  return made.copy
}

async function mount(...args: string[]): Promise<string> {
  await desk.testService.other.put('/in/a.txt', 'first')
  return desk.mount('drive', '--cache-ttl', '10m', ...args)
}

describe.skipIf(whyNoFuse() !== undefined)('resolve', () => {
  test('--keep mine deletes the copy, --keep theirs puts it in the place of the document', async () => {
    const drive = await mount()
    for (const [keep, kept] of [
      ['mine', 'ours'],
      ['theirs', 'theirs'],
    ] as const) {
      const copy = await quarrel(drive)
      const answer = await desk.docmount('resolve', join(drive, 'in/a.txt'), '--keep', keep)
      expect(answer).toMatchObject({ code: 0, stderr: '' })
      expect(answer.stdout).toContain(copy)
      expect(await content(join(drive, 'in/a.txt'))).toBe(kept)
      expect(await readdir(join(drive, 'in'))).toEqual(['a.txt'])
      await desk.docmount('wait', drive)
      expect(await stored()).toEqual({ 'a.txt': kept })
      expect(await statusOf(drive)).toMatchObject({ conflicts: 0, conflictCopies: [] })
    }
  })

  test('--keep both leaves both, and counts the conflict no longer, also after the next mount', async () => {
    const drive = await mount()
    const copy = await quarrel(drive)
    expect((await desk.docmount('resolve', join(drive, copy), '--keep', 'both')).code).toBe(0)
    expect(await statusOf(drive)).toMatchObject({ conflicts: 0, conflictCopies: [] })
    await desk.docmount('unmount', drive)
    await desk.mount('drive')
    expect(await statusOf(drive)).toMatchObject({ conflicts: 0, conflictCopies: [] })
    expect(await content(join(drive, copy))).toBe('theirs')
    expect(await content(join(drive, 'in/a.txt'))).toBe('ours')
  })

  test('of several copies, theirs has to be named; mine deletes them all', async () => {
    const drive = await mount()
    const first = await quarrel(drive, 'ours', 'theirs 1')
    const second = await quarrel(drive, 'ours too', 'theirs 2')
    const which = await desk.docmount('resolve', join(drive, 'in/a.txt'), '--keep', 'theirs')
    expect(which.code).toBe(1)
    expect(which.stderr).toContain(first)
    expect(which.stderr).toContain(second)
    expect((await desk.docmount('resolve', join(drive, first), '--keep', 'theirs')).code).toBe(0)
    expect(await content(join(drive, 'in/a.txt'))).toBe('theirs 1')
    expect((await desk.docmount('resolve', join(drive, 'in/a.txt'), '--keep', 'mine')).code).toBe(0)
    expect(await readdir(join(drive, 'in'))).toEqual(['a.txt'])
  })

  test('a copy that another machine made is known by its name', async () => {
    const name = 'a (conflict 2026-11-20 20.45.10 desk 2).txt'
    await desk.testService.other.put(`/in/${name}`, 'theirs')
    const drive = await mount()
    expect((await desk.docmount('resolve', join(drive, 'in', name), '--keep', 'theirs')).code).toBe(0)
    expect(await content(join(drive, 'in/a.txt'))).toBe('theirs')
  })

  test('says what is no conflict, what is gone, and that a read-only drive changes nothing', async () => {
    const drive = await mount()
    const why = async (...args: string[]): Promise<string> => (await desk.docmount('resolve', ...args)).stderr
    expect(await why(join(drive, 'in/a.txt'), '--keep', 'mine')).toBe(
      'docmount: /in/a.txt is neither a conflict copy nor a document that has one\n',
    )
    const gone = join(drive, 'in/a (conflict 2026-11-20 20.45.10 desk).txt')
    for (const keep of ['mine', 'theirs', 'both'])
      expect(await why(gone, '--keep', keep)).toMatch(/does not exist|is not there/)
    expect(await content(join(drive, 'in/a.txt'))).toBe('first')
    const alone = 'b (conflict 2026-11-20 20.45.10 desk).txt'
    await desk.testService.other.put(`/in/${alone}`, 'the only version')
    await desk.docmount('refresh', drive)
    expect(await why(join(drive, 'in', alone), '--keep', 'mine')).toContain('/in/b.txt is not there')
    expect(await content(join(drive, 'in', alone))).toBe('the only version')
    const copy = await quarrel(drive)
    await desk.docmount('unmount', drive)
    await desk.mount('drive', '--read-only')
    expect(await why(join(drive, copy), '--keep', 'mine')).toContain('read-only')
    expect(await content(join(drive, copy))).toBe('theirs')
  })

  test.each(['PUT', 'DELETE'] as const)(
    'theirs, killed before the %s: neither version is lost',
    async (method) => {
      const drive = await mount('--close-wait', '0')
      const copy = await quarrel(drive)
      const { faults } = desk.testService.service
      const clear = faults.inject({ kind: 'status', status: 503 }, { method })
      expect((await desk.docmount('resolve', join(drive, copy), '--keep', 'theirs')).code).toBe(0)
      await waitUntil('the service to be asked', () => faults.hits > 0)
      await desk.kill(drive)
      expect(Object.values(await stored())).toContain('theirs')
      clear()
      await desk.mount('drive')
      expect(await content(join(drive, 'in/a.txt'))).toBe('theirs')
      await desk.docmount('wait', drive)
      expect(await stored()).toEqual({ 'a.txt': 'theirs' })
      expect(await statusOf(drive)).toMatchObject({ conflicts: 0, conflictCopies: [] })
    },
  )
})
