// Notes on the contents in the spool, beside the journal.

import { readFileSync, statSync, truncateSync, unlinkSync, writeFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { KnownContents, knownIn } from '../../../src/content/spool/known-contents.ts'
import { systemDisk, type Disk } from '../../../src/world/disk.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../../support/temporary-folder.ts'

const digest = { size: 3, sha256: 'abc' }

let temporary: TemporaryFolder

beforeEach(async () => {
  temporary = await makeTemporaryFolder()
})

afterEach(() => temporary.remove())

const known = (disk: Disk = systemDisk): KnownContents => new KnownContents(temporary.path, disk)
const file = (): string => join(temporary.path, 'known.json')
const content = (id: string): void => writeFileSync(join(temporary.path, id), 'x')

test('is what was said last of each that is there, also by the next run', () => {
  for (const id of ['a', 'b']) content(id)
  const first = known()
  first.set('a', { path: '/old.pdf' })
  first.set('b', { path: '/b.pdf', ...digest })
  first.set('a', { path: '/new.pdf' })
  first.set('gone', { path: '/gone.pdf' })
  expect(first.get('a')).toEqual({ path: '/new.pdf' })
  const next = known()
  expect(next.get('a')).toEqual({ path: '/new.pdf' })
  expect(next.get('b')).toEqual({ path: '/b.pdf', ...digest })
  expect(next.get('gone')).toBeUndefined()
  next.delete('a')
  expect(next.get('a')).toBeUndefined()
})

test('costs nothing where it is known already', () => {
  const it = known()
  it.set('a', { path: '/a.pdf', ...digest })
  const { size } = statSync(file())
  it.set('a', { path: '/a.pdf', ...digest })
  expect(statSync(file()).size).toBe(size)
})

test('that was cut off in the middle of a line is lost alone', () => {
  for (const id of ['a', 'b', 'c']) content(id)
  const first = known()
  first.set('a', { path: '/a.pdf' })
  first.set('b', { path: '/b.pdf' })
  truncateSync(file(), statSync(file()).size - 5)
  const next = known()
  next.set('c', { path: '/c.pdf' })
  const after = knownIn(temporary.path, readdirSync(temporary.path), systemDisk)
  expect([...after]).toEqual([
    ['a', { path: '/a.pdf' }],
    ['c', { path: '/c.pdf' }],
  ])
})

test('of a former version, a file for each, is taken over', () => {
  content('a')
  writeFileSync(join(temporary.path, 'a.json'), JSON.stringify({ path: '/a.pdf', ...digest }))
  writeFileSync(join(temporary.path, 'gone.json'), JSON.stringify({ path: '/gone.pdf' }))
  expect(knownIn(temporary.path, readdirSync(temporary.path), systemDisk).get('a')).toEqual({
    path: '/a.pdf',
    ...digest,
  })
  expect(known().get('a')).toEqual({ path: '/a.pdf', ...digest })
  expect(readdirSync(temporary.path).sort()).toEqual(['a', 'known.json'])
  expect(known().get('a')).toEqual({ path: '/a.pdf', ...digest })
})

test('does not grow with what has gone', () => {
  const it = known()
  content('stays')
  it.set('stays', { path: '/stays.pdf' })
  for (let count = 0; count < 5_000; count++) {
    it.set(`${count}`, { path: `/saved and sent ${count}.pdf`, ...digest })
    it.delete(`${count}`)
  }
  expect(statSync(file()).size).toBeLessThan(70 * 1024)
  expect(known().get('stays')).toEqual({ path: '/stays.pdf' })
})

test('that somebody took away is there again with the next', () => {
  for (const id of ['a', 'b']) content(id)
  const it = known()
  it.set('a', { path: '/a.pdf' })
  unlinkSync(file())
  it.set('b', { path: '/b.pdf' })
  expect([...knownIn(temporary.path, readdirSync(temporary.path), systemDisk).keys()]).toEqual(['a', 'b'])
})

test('that a full disk does not take keeps nobody from saving, and the next is known', () => {
  for (const id of ['a', 'b', 'c']) content(id)
  let isFull = false
  const refused = (): never => {
    throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' })
  }
  const disk: Disk = {
    ...systemDisk,
    writeSync: (...how) => (isFull ? refused() : systemDisk.writeSync(...how)),
    writeFileSync: (...how) => (isFull ? refused() : systemDisk.writeFileSync(...how)),
  }
  const it = known(disk)
  it.set('a', { path: '/a.pdf' })
  isFull = true
  it.set('b', { path: '/b.pdf' })
  expect(it.get('b')).toEqual({ path: '/b.pdf' })
  isFull = false
  it.set('c', { path: '/c.pdf' })
  expect([...knownIn(temporary.path, readdirSync(temporary.path), systemDisk).keys()]).toEqual(['a', 'c'])
  expect(readFileSync(file(), 'utf8').split('\n').filter(Boolean)).toHaveLength(2)
})
