// A folder that another client removed, with all that was in it, while a program here is in it or has something of it open:
// nothing is in it any more, at whatever depth, and what comes to its path later is another.

import { expect, it } from 'vitest'
import type { FileSystem } from '../../../src/fs/contract.ts'
import { rootIno, type Caller, type MaybePromise } from '../../../src/fs/operations.ts'
import { openParts, type OpenParts } from '../../support/open-parts.ts'

const caller: Caller = { uid: 0, gid: 0, pid: 0, signal: new AbortController().signal }
const writing = { read: true, write: true, truncate: false }
const making = { mode: 0o644, flags: writing, exclusive: false }
const plain = { exchange: false, noReplace: false }

const given = { '/a.txt': 'a', '/d/f.txt': 'f', '/d/e/f.txt': 'f' }

/** The numbers of a path's names, held as a working directory is. */
async function looked(operations: FileSystem, path: string): Promise<number> {
  let ino = rootIno
  for (const name of path.split('/').slice(1)) {
    const { attributes } = await operations.lookup(ino, name, caller)
    if (attributes === undefined) throw new Error(`no ${name} of ${path}`)
    ;({ ino } = attributes)
  }
  return ino
}

/** Another client removes the folder, and the listing above it says so. The one of the folder itself is as fresh as before. */
async function remove({ service, sb }: OpenParts): Promise<void> {
  await service.other.delete('/d')
  await sb.tree.loadFresh(sb.tree.nodes.root)
}

/** Another client makes the folder anew: it shows, with what is in it, and with nothing else. */
async function expectAnother({ service, sb, operations, calls }: OpenParts): Promise<void> {
  sb.queue.goOn()
  expect(await operations.drain({ timeoutMs: 10_000 })).toEqual([])
  expect(await service.other.get('/d')).toBeUndefined()
  await service.other.put('/d/e/theirs.txt', 'theirs')
  await operations.refresh('/')
  expect((await calls.readdir('/')).toSorted()).toEqual(['a.txt', 'd'])
  expect(await calls.readdir('/d')).toEqual(['e'])
  expect(await calls.readdir('/d/e')).toEqual(['theirs.txt'])
  expect((await calls.readFile('/a.txt')).toString()).toBe('a')
}

const changes: [string, (operations: FileSystem, folder: number) => MaybePromise<unknown>][] = [
  ['a document is looked up', (operations, folder) => operations.lookup(folder, 'f.txt', caller)],
  ['a document is made', (operations, folder) => operations.create(folder, 'new.txt', making, caller)],
  ['a document is opened', (operations, folder) => operations.create(folder, 'f.txt', making, caller)],
  ['a folder is made', (operations, folder) => operations.mkdir(folder, 'new', 0o755, caller)],
  ['a document is deleted', (operations, folder) => operations.unlink(folder, 'f.txt', caller)],
  [
    'a document is renamed',
    (operations, folder) => operations.rename(folder, 'f.txt', rootIno, 'f.txt', plain, caller),
  ],
  [
    'a document comes by a rename',
    (operations, folder) => operations.rename(rootIno, 'a.txt', folder, 'a.txt', plain, caller),
  ],
]

for (const path of ['/d', '/d/e']) {
  it.each(changes)(`nothing is in ${path}, where %s`, async (_what, change) => {
    await using parts = await openParts(given)
    const { operations } = parts
    await looked(operations, `${path}/f.txt`)
    const folder = await looked(operations, path)
    await remove(parts)
    await expect(async () => change(operations, folder)).rejects.toMatchObject({ code: 'ENOENT' })
    await expectAnother(parts)
  })

  it(`a document in ${path} that is open is a deleted one: who has it open sees what it writes, and nobody else`, async () => {
    await using parts = await openParts(given)
    const { calls } = parts
    const file = await calls.open(`${path}/f.txt`, 'r+')
    // Its bytes are here.
    await file.read(1, 0)
    await remove(parts)
    await file.write('new', 0)
    expect((await file.read(10, 0)).toString()).toBe('new')
    await file.close()
    await expectAnother(parts)
  })

  it(`a document in ${path} that was looked up is not written, where nobody would see it`, async () => {
    await using parts = await openParts(given)
    const { operations } = parts
    const document = await looked(operations, `${path}/f.txt`)
    await remove(parts)
    const stale = { code: 'ESTALE' }
    for (const flags of [writing, { ...writing, truncate: true }])
      await expect(async () => operations.open(document, flags, caller)).rejects.toMatchObject(stale)
    await expect(async () =>
      operations.setattr(document, { size: 0 }, undefined, caller),
    ).rejects.toMatchObject(stale)
    await expectAnother(parts)
  })
}

it('a document that was being written when its folder was removed is stored again, with the folder', async () => {
  await using parts = await openParts(given)
  const { operations, calls, service, sb } = parts
  const file = await calls.open('/d/e/f.txt', 'r+')
  await file.write('new', 0)
  await remove(parts)
  await file.close()
  sb.queue.goOn()
  expect(await operations.drain({ timeoutMs: 10_000 })).toEqual([])
  expect((await service.other.bytes('/d/e/f.txt')).toString()).toBe('new')
  await operations.refresh('/')
  expect(await calls.readdir('/d/e')).toEqual(['f.txt'])
})
