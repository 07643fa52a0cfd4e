// Pins, as they are written down.

import { realWorld } from '../../../src/world/world.ts'
import { mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { PinStore } from '../../../src/fs/pins/pin-store.ts'
import { silentLog } from '../../../src/log.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../../support/temporary-folder.ts'

let temporary: TemporaryFolder
beforeEach(async () => {
  temporary = await makeTemporaryFolder()
})
afterEach(() => temporary.remove())

const open = (): PinStore => new PinStore(temporary.path, silentLog, realWorld())

test('pins and the name of their folder outlive the process', () => {
  const store = open()
  store.add('/b')
  store.add('/a/b.txt')
  const again = open()
  expect(again.list()).toEqual(['/a/b.txt', '/b'])
  expect(again.id).toBe(store.id)
  again.remove('/b')
  expect(open().list()).toEqual(['/a/b.txt'])
})

test('a path lies in the nearest pin at or above it', () => {
  const store = open()
  expect(store.pinOf('/a/b/c')).toBeUndefined()
  store.add('/a')
  store.add('/a/b/c')
  expect(store.pinOf('/a/b/c')).toBe('/a/b/c')
  expect(store.pinOf('/a/b/cd')).toBe('/a')
  expect(store.pinOf('/ab')).toBeUndefined()
  store.add('/')
  expect(store.pinOf('/ab')).toBe('/')
})

test('a rename moves what is pinned at and under it, and nothing beside it', () => {
  const store = open()
  for (const path of ['/a', '/a/b', '/ab']) store.add(path)
  expect(store.move('/x', '/y')).toBe(false)
  expect(store.move('/a', '/z')).toBe(true)
  expect(open().list()).toEqual(['/ab', '/z', '/z/b'])
})

test('a rename over what is pinned, too, leaves one pin', () => {
  const store = open()
  for (const path of ['/a', '/a/c', '/b', '/b/c']) store.add(path)
  expect(store.move('/a', '/b')).toBe(true)
  expect(open().list()).toEqual(['/b', '/b/c'])
  expect(store.move('/a', '/b')).toBe(false)
})

test.each(['EIO', 'EACCES', 'EMFILE'])(
  'a file that cannot be read (%s) stays, and is read another time',
  (code) => {
    const store = open()
    store.add('/a')
    const world = realWorld()
    const readFileSync = (): string => {
      throw Object.assign(new Error(code), { code })
    }
    const refusing = { ...world, disk: { ...world.disk, readFileSync } }
    expect(() => new PinStore(temporary.path, silentLog, refusing)).toThrow(code)
    expect(open()).toMatchObject({ id: store.id })
    expect(open().list()).toEqual(['/a'])
    expect(readdirSync(temporary.path)).toEqual(['pins.json'])
  },
)

test('what cannot be written down is not pinned', () => {
  const store = open()
  store.add('/a')
  mkdirSync(join(temporary.path, 'pins.json.new'))
  expect(() => store.add('/b')).toThrow(/EISDIR/)
  expect(store.list()).toEqual(['/a'])
  rmSync(join(temporary.path, 'pins.json.new'), { recursive: true })
  expect(JSON.parse(readFileSync(join(temporary.path, 'pins.json'), 'utf8'))).toMatchObject({ pins: ['/a'] })
})
