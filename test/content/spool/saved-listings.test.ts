// Listings that a mount shows of a folder while the service is away, written by an earlier run.

import { join } from 'node:path'
import Database from 'libsql'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { RemoteFile } from '../../../src/api/types.ts'
import { mostSavedNames, SavedListings } from '../../../src/content/spool/saved-listings.ts'
import { silentLog } from '../../../src/log.ts'
import { realWorld } from '../../../src/world/world.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../../support/temporary-folder.ts'

let temporary: TemporaryFolder
let saved: SavedListings

const open = (): SavedListings => new SavedListings(temporary.path, silentLog, realWorld().clock)

const file = (name: string, size: number): RemoteFile => ({
  kind: 'file',
  name,
  size,
  modifiedAt: '2026-01-01T00:00:00Z',
  mimetype: 'text/plain',
  url: undefined,
})

/** Listed: these names, with their sizes. */
const listed = (sizes: Record<string, number>): Map<string, RemoteFile> =>
  new Map(Object.entries(sizes).map(([name, size]) => [name, file(name, size)]))

/** Names told of the folder: sizes of documents, `folder` for folders. */
function told(path: string): Record<string, unknown> | undefined {
  const names = saved.load(path)
  if (names === undefined) return undefined
  return Object.fromEntries(names.map((each) => [each.name, each.kind === 'file' ? each.size : each.kind]))
}

function restart(): void {
  saved.close()
  saved = open()
}

beforeEach(async () => {
  temporary = await makeTemporaryFolder()
  saved = open()
})

afterEach(async () => {
  saved.close()
  await temporary.remove()
})

it('a folder is as it was listed, with what was changed since, before and after it is written', () => {
  saved.save('/in', listed({ 'a.txt': 1, 'b.txt': 2 }))
  saved.changed('/in', 'a.txt', file('a.txt', 10))
  saved.changed('/in', 'b.txt', undefined)
  saved.changed('/in', 'new', { kind: 'folder', name: 'new' })
  expect(told('/in')).toEqual({ 'a.txt': 10, new: 'folder' })
  restart()
  expect(told('/in')).toEqual({ 'a.txt': 10, new: 'folder' })
  saved.changed('/in', 'b.txt', file('b.txt', 20))
  restart()
  expect(told('/in')).toEqual({ 'a.txt': 10, 'b.txt': 20, new: 'folder' })
})

it('a later listing takes the place of what was changed before', () => {
  saved.save('/in', listed({ 'a.txt': 1 }))
  saved.changed('/in', 'mine.txt', file('mine.txt', 5))
  restart()
  saved.save('/in', listed({ 'a.txt': 2 }))
  restart()
  expect(told('/in')).toEqual({ 'a.txt': 2 })
})

it('of a folder that nobody has listed, nothing is told; of one that was made here, what was stored in it', () => {
  saved.changed('/unknown', 'a.txt', file('a.txt', 1))
  saved.began('/made')
  saved.changed('/made', 'a.txt', file('a.txt', 1))
  expect(told('/unknown')).toBeUndefined()
  expect(told('/made')).toEqual({ 'a.txt': 1 })
  restart()
  expect(told('/unknown')).toBeUndefined()
  expect(told('/made')).toEqual({ 'a.txt': 1 })
})

it('a folder that is gone is gone with all below, and with nothing beside it', () => {
  saved.save('/', listed({ 'in.txt': 1 }))
  saved.changed('/', 'in', { kind: 'folder', name: 'in' })
  for (const path of ['/in', '/in/deep', '/in.bak', '/inner']) saved.save(path, listed({ 'a.txt': 1 }))
  saved.flush()
  saved.changed('/in/deep', 'b.txt', file('b.txt', 1))
  saved.gone('/in')
  restart()
  expect(told('/in')).toBeUndefined()
  expect(told('/in/deep')).toBeUndefined()
  expect(told('/in.bak')).toEqual({ 'a.txt': 1 })
  expect(told('/inner')).toEqual({ 'a.txt': 1 })
  expect(told('/')).toEqual({ 'in.txt': 1 })
})

it('tells of what folders in a folder something is saved, before and after it is written', () => {
  for (const path of [
    '/',
    '/in',
    '/in.bak/deep/er',
    '/in/deep',
    '/in0',
    '/in0.bak',
    '/inner/deep',
    '/über',
    '/\u0001',
  ])
    saved.save(path, listed({ 'a.txt': 1 }))
  const tops = ['in', 'in.bak', 'in0', 'in0.bak', 'inner', 'über', '\u0001']
  const check = (): void => {
    expect([...saved.foldersIn('/')].toSorted()).toEqual(tops.toSorted())
    expect([...saved.foldersIn('/in')]).toEqual(['deep'])
    expect([...saved.foldersIn('/in.bak/deep')]).toEqual(['er'])
    expect([...saved.foldersIn('/in0')]).toEqual([])
  }
  check()
  restart()
  check()
})

it('what the service has agreed to is there after a kill, over what was changed before and under what is listed later', async () => {
  saved.save('/in', listed({ 'a.txt': 1, 'b.txt': 1 }))
  saved.flush()
  saved.changed('/in', 'a.txt', file('a.txt', 2))
  saved.agreed([
    { folder: '/in', name: 'a.txt', record: file('a.txt', 3) },
    { folder: '/in', name: 'b.txt', record: undefined },
  ])
  saved.began('/made')
  saved.agreed([{ folder: '/made', name: 'c.txt', record: file('c.txt', 1) }])
  const killed = saved
  saved = open()
  expect(told('/in')).toEqual({ 'a.txt': 3 })
  expect(told('/made')).toEqual({ 'c.txt': 1 })
  killed.flush()
  expect(told('/in')).toEqual({ 'a.txt': 3 })
  killed.close()
  // It came before, and is written after.
  saved.save('/in', listed({ 'a.txt': 3 }))
  saved.agreed([{ folder: '/in', name: 'a.txt', record: file('a.txt', 4) }])
  expect(told('/in')).toEqual({ 'a.txt': 4 })
  restart()
  expect(told('/in')).toEqual({ 'a.txt': 4 })
})

it('what the disk refuses to take is told all the same, and written with what comes next', () => {
  saved.save('/in', listed({ 'a.txt': 1 }))
  saved.flush()
  const other = new Database(join(temporary.path, 'listings.db'))
  other.exec('begin exclusive')
  saved.save('/in', listed({ 'a.txt': 2, 'b.txt': 2 }))
  saved.changed('/in', 'b.txt', undefined)
  saved.flush()
  other.exec('rollback')
  other.close()
  expect(told('/in')).toEqual({ 'a.txt': 2 })
  restart()
  expect(told('/in')).toEqual({ 'a.txt': 2 })
})

it('what was made here is there after a kill, also where its folder was listed only a moment ago', () => {
  saved.save('/in', listed({ 'a.txt': 1 }))
  saved.agreed([{ folder: '/in', name: 'mine.txt', record: file('mine.txt', 5) }])
  saved = open()
  expect(told('/in')).toEqual({ 'a.txt': 1, 'mine.txt': 5 })
})

it('what an earlier run knew is told until the next, whatever is listed since', () => {
  expect(saved.earlier('/in/a.txt', { isOfAny: false })).toBeUndefined()
  saved.save('/in', listed({ 'a.txt': 1 }))
  expect(saved.earlier('/in/a.txt', { isOfAny: false })).toBeUndefined()
  restart()
  saved.changed('/in', 'b.txt', file('b.txt', 2))
  restart()
  const [a, b] = ['1@2026-01-01T00:00:00Z', '2@2026-01-01T00:00:00Z']
  const known = (): unknown[] =>
    ['a.txt', 'b.txt', 'c.txt'].map((name) => saved.earlier(`/in/${name}`, { isOfAny: false }))
  expect(known()).toEqual([a, b, null])
  saved.save('/in', listed({ 'a.txt': 10, 'c.txt': 3 }))
  saved.save('/new', listed({ 'a.txt': 10 }))
  expect(known()).toEqual([a, b, null])
  saved.flush()
  expect(known()).toEqual([a, b, null])
  saved.save('/in', listed({ 'a.txt': 20 }))
  saved.flush()
  expect(known()).toEqual([a, b, null])
  expect(saved.earlier('/new/a.txt', { isOfAny: false })).toBeNull()
  expect(saved.earlier('/in/a.txt', { isOfAny: true })).toBe('20@2026-01-01T00:00:00Z')
  restart()
  expect(known()).toEqual(['20@2026-01-01T00:00:00Z', null, null])
})

it('a folder that went is begun anew by what is stored in it, unless somebody has listed it since, however many names it has', () => {
  const stored = { folder: '/in', name: 'b.txt', record: file('b.txt', 2) }
  const manyNames = Object.defineProperty(listed({ 'a.txt': 1 }), 'size', { value: mostSavedNames + 1 })
  for (const isListed of [false, true]) {
    saved.save('/in', listed({ 'a.txt': 1 }))
    saved.flush()
    saved.gone('/in')
    if (isListed) saved.save('/in', manyNames)
    saved.agreed([stored])
    expect(told('/in')).toEqual(isListed ? undefined : { 'b.txt': 2 })
  }
})

describe('what the service agreed to is told to the next run, with its time', () => {
  const agreed = { at: 1_000, highest: '1@2026-01-01T00:00:00Z' }
  const stored = { folder: '/in', name: 'a.txt', record: file('a.txt', 2), agreed: { at: 1_000 } }
  const deleted = { folder: '/in', name: 'b.txt', record: undefined, agreed }
  const known = (at: number): unknown => saved.agreedAfter(at)

  it('after a kill, also of folders of which no listing is saved', () => {
    saved.agreed([stored, deleted])
    saved = open()
    expect(known(999)).toEqual([stored, deleted])
    expect(known(1_000)).toEqual([])
    expect(told('/in')).toBeUndefined()
  })

  it('as it was, where it is said again without a time, or stays under a later listing', () => {
    saved.save('/in', listed({ 'a.txt': 1, 'b.txt': 1 }))
    saved.agreed([stored, deleted])
    saved.flush()
    saved.agreed([{ folder: '/in', name: 'a.txt', record: file('a.txt', 3) }])
    saved.save('/in', listed({ 'a.txt': 1, 'b.txt': 1 }), ['a.txt', 'b.txt', 'c.txt'])
    saved.changed('/in', 'a.txt', file('a.txt', 4))
    restart()
    expect(known(999)).toEqual([{ ...stored, record: file('a.txt', 4) }, deleted])
    expect(told('/in')).toEqual({ 'a.txt': 4 })
    saved.save('/in', listed({ 'a.txt': 5 }), ['b.txt'])
    restart()
    expect(known(999)).toEqual([deleted])
  })

  it('of a folder that is too large to be saved for an hour', () => {
    const manyNames = Object.defineProperty(listed({ 'a.txt': 1 }), 'size', { value: mostSavedNames + 1 })
    const lately = { ...stored, name: 'lately.txt', agreed: { at: Date.now(), highest: undefined } }
    saved.agreed([stored, { ...stored, folder: '/other' }, lately])
    saved.save('/in', manyNames)
    saved = open()
    expect(known(0)).toHaveLength(2)
    saved.agreed([lately])
    expect(known(0)).toEqual([lately])
  })

  it('but nothing by a file of an earlier docmount, which is still told', () => {
    saved.close()
    const path = join(temporary.path, 'listings.db')
    const earlier = new Database(path)
    earlier.exec(`drop table listing; drop table changed;
      create table listing (path text primary key, names text not null) without rowid;
      create table changed (folder text not null, name text not null, entry text, primary key (folder, name)) without rowid;
      insert into listing values ('/in', '[["a.txt",1,null,null]]'); insert into changed values ('/in', 'b.txt', '["b.txt",2,null,null]')`)
    earlier.close()
    saved = open()
    expect(known(0)).toEqual([])
    expect(told('/in')).toEqual({ 'a.txt': 1, 'b.txt': 2 })
    saved.agreed([stored])
    expect(told('/in')).toEqual({ 'a.txt': 2, 'b.txt': 2 })
    saved = open()
    expect(known(0)).toEqual([stored])
  })
})
