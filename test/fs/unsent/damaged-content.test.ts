// Content that was saved here and damaged on this machine's disk before it was sent.

import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { patternedBytes } from '../../support/bytes.ts'
import { spoolFile, useState } from './state-setup.ts'

const state = useState()

const damages: Readonly<Record<string, (file: string) => void>> = {
  truncated: (file) => truncateSync(file, 100_000),
  emptied: (file) => truncateSync(file, 0),
  zeroed: (file) => writeFileSync(file, Buffer.alloc(readFileSync(file).length)),
  flipped(file) {
    const bytes = readFileSync(file)
    bytes[150_000] = (bytes[150_000] ?? 0) ^ 1
    writeFileSync(file, bytes)
  },
  removed: (file) => rmSync(file),
  longer: (file) => writeFileSync(file, Buffer.concat([readFileSync(file), Buffer.alloc(10)])),
}

test.each(Object.keys(damages))('%s content is refused here, and the rest arrives', async (kind) => {
  const sizes = [200_000, 1_500_000]
  for (const size of sizes) await state.service.other.put(`/replaced-${size}.pdf`, 'the good version')
  await state.service.other.put('/moved.pdf', 'the good version')
  await state.start()
  expect((await state.calls.readdir('')).length).toBe(3)
  await state.service.stop()
  const paths = [...sizes.flatMap((size) => [`/new-${size}.pdf`, `/replaced-${size}.pdf`]), '/moved.pdf']
  const size = (path: string): number => Number(/\d+/.exec(path)?.[0] ?? 300_000)
  for (const path of paths) await state.calls.writeFile(path, patternedBytes(size(path), path))
  await state.calls.rename('/moved.pdf', '/moved-to.pdf')
  await state.calls.writeFile('/well.pdf', patternedBytes(200_000, 'well'))
  await state.calls.writeFile('/small.txt', 'in the journal')
  await state.end()
  for (const path of paths)
    damages[kind]?.(spoolFile(state.stateDir, path === '/moved.pdf' ? '/moved-to.pdf' : path))
  damages[kind]?.(spoolFile(state.stateDir, '/small.txt'))
  await state.service.start()
  await state.start()
  const left = await state.fileSystem.drain({ timeoutMs: 20_000 })
  expect(left.map(({ path }) => path).sort()).toEqual(
    paths.map((path) => (path === '/moved.pdf' ? '/moved-to.pdf' : path)).sort(),
  )
  for (const { state: how, lastError } of left) {
    expect(how).toBe('refused')
    expect(lastError).toMatch(/the content kept on this machine is damaged .*nothing was sent/)
  }
  expect((await state.service.other.bytes('/well.pdf')).equals(patternedBytes(200_000, 'well'))).toBe(true)
  expect((await state.service.other.bytes('/small.txt')).toString()).toBe('in the journal')
  for (const path of ['/moved.pdf', ...sizes.map((bytes) => `/replaced-${bytes}.pdf`)])
    expect((await state.service.other.bytes(path)).toString()).toBe('the good version')
  for (const bytes of sizes) expect(await state.service.other.get(`/new-${bytes}.pdf`)).toBeUndefined()
})

test.each(['flipped', 'removed'])('content that was stored before it was %s is done', async (kind) => {
  await state.start()
  const content = patternedBytes(200_000, 'stored')
  await state.service.stop()
  await state.calls.writeFile('/a.pdf', content)
  await state.end()
  damages[kind]?.(spoolFile(state.stateDir, '/a.pdf'))
  await state.service.start()
  // As if the answer to an earlier attempt had been lost.
  await state.service.other.put('/a.pdf', content)
  await state.start()
  expect(await state.fileSystem.drain({ timeoutMs: 20_000 })).toEqual([])
  expect((await state.service.other.bytes('/a.pdf')).equals(content)).toBe(true)
  expect(state.fileSystem.status().conflicts).toBe(0)
})

test('of content that was removed before it was sent nothing is shown as saved', async () => {
  await state.service.other.put('/old.pdf', 'the good version')
  await state.start()
  await state.calls.readdir('')
  await state.service.stop()
  for (const path of ['/new.pdf', '/old.pdf'])
    await state.calls.writeFile(path, patternedBytes(200_000, 'saved'))
  await state.end()
  for (const path of ['/new.pdf', '/old.pdf']) rmSync(spoolFile(state.stateDir, path))
  await state.service.start()
  await state.start()
  expect((await state.fileSystem.drain({ timeoutMs: 20_000 })).length).toBe(2)
  expect(state.logged).toContain('cannot be sent as it is')
  expect((await state.calls.readFile('/old.pdf')).toString()).toBe('the good version')
  await expect(state.calls.readFile('/new.pdf')).rejects.toThrow()
  await state.calls.writeFile('/old.pdf', 'saved anew')
  await state.calls.unlink('/new.pdf')
  expect(await state.fileSystem.drain({ timeoutMs: 20_000 })).toEqual([])
  expect((await state.service.other.bytes('/old.pdf')).toString()).toBe('saved anew')
  expect((await state.service.other.get('/'))?.entries).toHaveLength(1)
})

test('less than was sent is stored, and nobody lives to tell: it is ours, and replaced', async () => {
  await state.start()
  const content = patternedBytes(200_000, 'cut')
  await state.service.stop()
  await state.calls.writeFile('/a.pdf', content)
  await state.end()
  await state.service.start()
  await state.service.other.put('/a.pdf', content.subarray(0, 120_000))
  await state.start()
  expect(await state.fileSystem.drain({ timeoutMs: 20_000 })).toEqual([])
  expect((await state.service.other.bytes('/a.pdf')).equals(content)).toBe(true)
  expect((await state.service.other.get('/'))?.entries).toHaveLength(1)
  expect(state.fileSystem.status().conflicts).toBe(0)
})
