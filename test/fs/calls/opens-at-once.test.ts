// Names that are looked up or opened while what they stand for is renamed, replaced or removed: what is answered is of the
// document that the name stood for at some moment of the call.

import { describe, expect, it } from 'vitest'
import type { FileSystem } from '../../../src/fs/contract.ts'
import { rootIno, type Caller, type Filler, type MaybePromise } from '../../../src/fs/operations.ts'
import type { Calls } from '../../support/door.ts'
import { openHeld, type HeldDrive } from '../../support/open-held.ts'
import { waitUntil } from '../../support/wait-until.ts'

const caller: Caller = { uid: 0, gid: 0, pid: 0, signal: new AbortController().signal }
const reading = { read: true, write: false, truncate: false }
const writing = { read: true, write: true, truncate: false }

async function looked({ fileSystem }: HeldDrive, name: string): Promise<number> {
  const { attributes } = await fileSystem().lookup(rootIno, name, caller)
  if (attributes === undefined) throw new Error(`no ${name}`)
  return attributes.ino
}

/** The number that a listing tells, which asks for nothing of the document itself. */
async function listed(operations: FileSystem, name: string): Promise<number> {
  const { fh } = await operations.opendir(rootIno, caller)
  let found = NaN
  const filler: Filler = (child) => {
    if (child.name === name) operations.remember((found = child.ino))
    return true
  }
  await operations.readdir(fh, 0, filler, caller)
  operations.releasedir(fh)
  return found
}

describe('a document that was looked up and has no name by now', () => {
  const ways = [
    ['was replaced', (calls: Calls) => calls.rename('/b.txt', '/a.txt')],
    ['was deleted', (calls: Calls) => calls.unlink('/a.txt')],
  ] as const

  it.each(ways)('is not opened as an empty one where it %s', async (_how, takeAway) => {
    await using drive = await openHeld()
    const operations = drive.fileSystem()
    for (const path of ['/a.txt', '/b.txt']) await drive.calls().writeFile(path, path)
    const ino = await looked(drive, 'a.txt')
    await takeAway(drive.calls())
    const stale = { code: 'ESTALE' }
    for (const flags of [reading, writing, { ...writing, truncate: true }])
      await expect(async () => operations.open(ino, flags, caller)).rejects.toMatchObject(stale)
    for (const size of [0, 2])
      await expect(async () => operations.setattr(ino, { size }, undefined, caller)).rejects.toMatchObject(
        stale,
      )
  })

  it.each(ways)('is not opened as it was before it was saved where it %s', async (_how, takeAway) => {
    await using drive = await openHeld({ '/a.txt': 'before', '/b.txt': 'b' })
    const operations = drive.fileSystem()
    await drive.calls().readdir('/')
    drive.hold('/a.txt')
    await drive.calls().writeFile('/a.txt', 'saved')
    const ino = await looked(drive, 'a.txt')
    await takeAway(drive.calls())
    const open = async (): Promise<unknown> => operations.open(ino, reading, caller)
    await expect(open).rejects.toMatchObject({ code: 'ESTALE' })
  })

  it('is opened as it was where somebody has it open', async () => {
    await using drive = await openHeld()
    const operations = drive.fileSystem()
    await drive.calls().writeFile('/a.txt', 'a')
    const file = await drive.calls().open('/a.txt', 'r')
    const ino = await looked(drive, 'a.txt')
    await drive.calls().unlink('/a.txt')
    const { fh } = await operations.open(ino, reading, caller)
    await file.close()
    expect(Buffer.concat(await operations.read(fh, 0, 10, caller)).toString()).toBe('a')
    await operations.release(fh)
  })
})

describe('while a document whose listing tells no size is asked for it', () => {
  /** Begins when the listing is there that tells none; `change` is made before the answer comes. */
  async function during<T>(
    drive: HeldDrive,
    begin: (operations: FileSystem) => MaybePromise<T>,
    change: (calls: Calls) => Promise<void>,
  ): Promise<T> {
    const calls = drive.calls()
    await calls.writeFile('/b.txt', 'another')
    await drive.drain()
    const { service } = drive.testService
    service.faults.inject({ kind: 'omit-fields', fields: ['size'] }, { method: 'GET', path: '/' })
    await drive.fileSystem().refresh('/')
    await calls.readdir('/')
    service.faults.inject({ kind: 'latency', ms: 700 }, { method: 'GET', path: '/a.txt', times: 1 })
    service.clearCalls()
    const answer = Promise.resolve(begin(drive.fileSystem()))
    answer.catch(() => {})
    await waitUntil('it to be asked', () => service.calls.some(({ path }) => path === '/a.txt'))
    await change(calls)
    return answer
  }

  const replace = (calls: Calls): Promise<void> => calls.rename('/b.txt', '/a.txt')
  const renameAway = (calls: Calls): Promise<void> => calls.rename('/a.txt', '/c.txt')

  it('its name is looked up as what stands there now, where it was replaced', async () => {
    await using drive = await openHeld({ '/a.txt': 'a' })
    const found = await during(drive, (operations) => operations.lookup(rootIno, 'a.txt', caller), replace)
    expect(found.attributes).toMatchObject({ size: 'another'.length, nlink: 1 })
  })

  it('its name is looked up as nothing, where it was renamed', async () => {
    await using drive = await openHeld({ '/a.txt': 'a' })
    const found = await during(drive, (operations) => operations.lookup(rootIno, 'a.txt', caller), renameAway)
    expect(found.attributes).toBeUndefined()
  })

  it('it is opened no more, where it was replaced', async () => {
    await using drive = await openHeld({ '/a.txt': 'a' })
    const open = async (operations: FileSystem): Promise<unknown> =>
      operations.open(await listed(operations, 'a.txt'), reading, caller)
    await expect(during(drive, open, replace)).rejects.toMatchObject({ code: 'ESTALE' })
  })

  it('no door keeps its name as that of what is made there, where it was renamed', async () => {
    await using drive = await openHeld({ '/a.txt': 'a' })
    const how = { mode: 0o644, flags: writing, exclusive: false }
    const { entry } = await during(
      drive,
      (operations) => operations.create(rootIno, 'a.txt', how, caller),
      renameAway,
    )
    expect(entry.entryTtlMs).toBe(0)
  })
})
