// The cache folder was damaged: what is read is right all the same.

import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { patternedBytes } from '../../support/bytes.ts'
import { waitUntil } from '../../support/wait-until.ts'
import { useState } from './state-setup.ts'

const state = useState()

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
}

const damages: Readonly<Record<string, (file: string) => void>> = {
  emptied: (file) => writeFileSync(file, ''),
  'cut in half': (file) => writeFileSync(file, readFileSync(file).subarray(0, statSync(file).size / 2)),
  'random bytes': (file) => writeFileSync(file, patternedBytes(statSync(file).size, 'random')),
  zeroed: (file) => writeFileSync(file, Buffer.alloc(statSync(file).size)),
  'flipped bits'(file) {
    const bytes = readFileSync(file)
    for (let at = 7; at < bytes.length; at += 1_000) bytes[at] = (bytes[at] ?? 0) ^ 4
    writeFileSync(file, bytes)
  },
  'a folder'(file) {
    rmSync(file)
    mkdirSync(file)
  },
}

test.each(Object.keys(damages))('every file of the cache %s: reads are right', async (kind) => {
  const documents = [3_000, 200_000, 1_000_000].map((size) => ({
    path: `/${size}.pdf`,
    content: patternedBytes(size, `${size}`),
  }))
  for (const { path, content } of documents) await state.service.other.put(path, content)
  await state.start()
  for (const { path, content } of documents) {
    expect((await state.calls.readFile(path)).equals(content)).toBe(true)
    await state.calls.writeFile(`/own${path.slice(1)}`, content)
  }
  await state.fileSystem.drain({ timeoutMs: 20_000 })
  await waitUntil('the cache to be written', () => filesIn(state.cacheDir).length >= documents.length)
  await state.end()
  for (const file of filesIn(state.cacheDir)) damages[kind]?.(file)
  await state.start()
  for (const { path, content } of documents) {
    expect((await state.calls.readFile(path)).equals(content)).toBe(true)
    expect((await state.calls.readFile(`/own${path.slice(1)}`)).equals(content)).toBe(true)
  }
})

test.each(Object.keys(damages))(
  'every file of the cache, and the saved listings, %s under a running drive: it goes on',
  async (kind) => {
    const content = patternedBytes(200_000, 'read before')
    await state.service.other.put('/read.pdf', content)
    await state.start()
    expect((await state.calls.readFile('/read.pdf')).equals(content)).toBe(true)
    await state.calls.writeFile('/own.pdf', content)
    const listings = join(state.stateDir, 'listings.db')
    await waitUntil('the listing to be saved', () => readFileSync(listings).includes('own.pdf'))
    await waitUntil('the cache to be written', () => filesIn(state.cacheDir).length > 0)
    for (const file of [...filesIn(state.cacheDir), listings]) damages[kind]?.(file)
    for (const path of ['/read.pdf', '/own.pdf'])
      expect((await state.calls.readFile(path)).equals(content)).toBe(true)
    await state.calls.writeFile('/new.txt', 'new')
    expect(await state.fileSystem.drain({ timeoutMs: 20_000 })).toEqual([])
    // The end of the drive writes what is still to be saved of the listings.
    await state.end()
    await state.start()
    expect((await state.calls.readdir('')).sort()).toEqual(['new.txt', 'own.pdf', 'read.pdf'])
  },
)
