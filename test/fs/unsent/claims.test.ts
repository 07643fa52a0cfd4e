// Claims on a spool file, and when it goes.

import { realWorld } from '../../../src/world/world.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { intend } from '../../../src/content/intention.ts'
import { Journal } from '../../../src/content/spool/journal.ts'
import { Spool } from '../../../src/content/spool/spool.ts'
import type { SpoolFile } from '../../../src/content/spool/spool-file.ts'
import { Node } from '../../../src/fs/tree/node.ts'
import { Claims } from '../../../src/fs/unsent/claims.ts'
import { silentLog } from '../../../src/log.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../../support/temporary-folder.ts'

let temporary: TemporaryFolder
let journal: Journal
let spool: Spool
let claims: Claims
let root: Node
let node: Node
let file: SpoolFile

beforeEach(async () => {
  temporary = await makeTemporaryFolder()
  journal = new Journal(temporary.path, realWorld())
  spool = new Spool(join(temporary.path, 'spool'), journal.contents, realWorld())
  claims = new Claims({ journal, spool, log: silentLog })
  root = new Node(1, 'folder', undefined, '')
  node = new Node(2, 'file', root, 'a.txt')
  file = spool.create('a.txt')
  claims.show(node, file)
})

afterEach(async () => {
  journal.close()
  await temporary.remove()
})

const put = (id: number, path: string, id2: string): void =>
  journal.intentions.save(intend(id, { kind: 'put', path, spool: id2 }, 0))

async function isThere(): Promise<boolean> {
  await new Promise((resolve) => setImmediate(resolve))
  await journal.durable()
  return existsSync(file.path)
}

test('what a row named goes when its end survives a power cut, not before', async () => {
  put(1, '/a.txt', file.id)
  claims.show(node, undefined)
  journal.intentions.remove(1)
  await new Promise((resolve) => setImmediate(resolve))
  expect(existsSync(file.path)).toBe(true)
  expect(await isThere()).toBe(false)
})

test('a file that only a node shows goes with that, and is changed in place', async () => {
  expect(claims.isOnlyOf(node)).toBe(true)
  claims.show(node, spool.create('b.txt'))
  expect(await isThere()).toBe(false)
  expect(claims.has(file.id)).toBe(false)
})

test('what an intention names does not change, and stays until the last one is gone', async () => {
  put(1, '/a.txt', file.id)
  put(2, '/b.txt', file.id)
  expect(claims.isOnlyOf(node)).toBe(false)
  claims.show(node, undefined)
  journal.intentions.remove(1)
  expect(await isThere()).toBe(true)
  journal.intentions.remove(2)
  expect(await isThere()).toBe(false)
})

test('whose content no row names any more is told, and only then', async () => {
  const freed: string[] = []
  claims.onFreed = ({ path }) => void freed.push(path)
  put(1, '/a.txt', file.id)
  put(2, '/b.txt', file.id)
  journal.intentions.remove(1)
  await isThere()
  expect(freed).toEqual([])
  journal.intentions.remove(2)
  await isThere()
  expect(freed).toEqual(['/a.txt'])
})

test('a node that is dropped needs no content, unless nobody else has it', async () => {
  node.local.unsaved()
  claims.dropped(node)
  expect(await isThere()).toBe(true)
  node.local.saved()
  claims.dropped(node)
  expect(await isThere()).toBe(false)
})

test('an intention that names other content lets go of this one', async () => {
  put(1, '/a.txt', file.id)
  claims.show(node, undefined)
  put(1, '/a.txt', spool.create('b.txt').id)
  expect(await isThere()).toBe(false)
})

test('what one row lets go of, another takes in the same transaction', async () => {
  put(1, '/a.txt', file.id)
  claims.show(node, undefined)
  journal.transaction(() => {
    journal.intentions.remove(1)
    put(2, '/b.txt', file.id)
  })
  expect(await isThere()).toBe(true)
})

test('what is rolled back has changed nothing', async () => {
  put(1, '/a.txt', file.id)
  claims.show(node, undefined)
  expect(() =>
    journal.transaction(() => {
      journal.intentions.remove(1)
      throw new Error('the disk is full')
    }),
  ).toThrow('the disk is full')
  expect(await isThere()).toBe(true)
  journal.intentions.remove(1)
  expect(await isThere()).toBe(false)
})

test('a local-only file is its own, unless its content is somebody else’s too', () => {
  journal.localFiles.save({ path: '/a.txt', spool: file.id, reference: undefined })
  expect(claims.isOnlyOf(node)).toBe(true)
  const other = new Node(3, 'file', root, 'b.txt')
  claims.show(other, file)
  expect(claims.isOnlyOf(node)).toBe(false)
  claims.show(other, undefined)
  journal.localFiles.save({ path: '/b.txt', spool: file.id, reference: undefined })
  expect(claims.isOnlyOf(node)).toBe(false)
})

test('while it is being journaled, content stays as it is', async () => {
  await claims.hold(file, async () => {
    expect(claims.isOnlyOf(node)).toBe(false)
    claims.show(node, undefined)
    expect(await isThere()).toBe(true)
  })
  expect(await isThere()).toBe(false)
})

test('a file that is given away is nobody’s, and removed where nobody takes it', async () => {
  await claims.giveAway(node, async () => {})
  expect([node.content, claims.has(file.id), await isThere()]).toEqual([undefined, false, true])
  file = spool.create('b.txt')
  claims.show(node, file)
  await expect(claims.giveAway(node, () => Promise.reject(new Error('no room')))).rejects.toThrow('no room')
  expect(await isThere()).toBe(false)
})

test('what a row named may be changed when its end survives a power cut, not before', async () => {
  let count = 0
  const told = (): void => void count++
  claims.onceUnnamed(file, told)
  expect(count).toBe(1)
  put(1, '/a.txt', file.id)
  claims.onceUnnamed(file, told)
  journal.intentions.remove(1)
  await journal.durable()
  expect(count).toBe(2)
  // When it was asked the row was still there.
  claims.onceUnnamed(file, told)
  expect(count).toBe(2)
  await journal.durable()
  claims.onceUnnamed(file, told)
  expect(count).toBe(4)
})

test.each([
  {
    what: 'an intention',
    name: (): void => put(1, '/a.txt', file.id),
    end: (): void => journal.intentions.remove(1),
  },
  {
    what: 'a local-only file that may be sent',
    name: (): void => journal.localFiles.save({ path: '/a.txt', spool: file.id, reference: undefined }),
    end: (): void => journal.localFiles.remove('/a.txt'),
  },
])('what $what named is not changed before its end survives a power cut', async ({ name, end }) => {
  name()
  expect(claims.mayChange(node)).toBe(false)
  end()
  expect([claims.isOnlyOf(node), claims.mayChange(node)]).toEqual([true, false])
  await journal.durable()
  expect(claims.mayChange(node)).toBe(true)
})

test.each(['.a.txt.swp', '.goutputstream-AB12CD'])(
  'what no name of its own makes a document is changed where it is: %s',
  (name) => {
    const swap = new Node(3, 'file', root, name)
    const content = spool.create(name)
    claims.show(swap, content)
    journal.localFiles.save({ path: `/${name}`, spool: content.id, reference: undefined })
    expect(claims.mayChange(swap)).toBe(true)
  },
)

test('rows of an earlier run claim their files', async () => {
  put(1, '/a.txt', file.id)
  journal.close()
  journal = new Journal(temporary.path, realWorld())
  claims = new Claims({ journal, spool, log: silentLog })
  expect(claims.has(file.id)).toBe(true)
  journal.intentions.remove(1)
  expect(await isThere()).toBe(false)
})
