// Bytes that nothing refers to go after a while, and no others, whatever was cut off in the middle.

import { randomBytes } from 'node:crypto'
import { mkdir, readdir, unlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { silentLog } from '../../../src/log.ts'
import { freshDatabase } from '../../support/postgres.ts'
import { documentOf, errorOf, files, startTestService } from '../support.ts'
import { type Nodes, startNodes } from './nodes.ts'

const graceMs = 4_000
let nodes: Nodes
beforeEach(async () => {
  nodes = await startNodes({ graceMs })
})
afterEach(() => nodes.close())

async function objects(): Promise<string[]> {
  const entries = await readdir(join(nodes.folder, 'blobs'), { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
}
/** Here a sweep comes soon, so a busy machine may take too long to upload: then it is asked to try again. */
async function put(node: Nodes['one'], path: string, content: Uint8Array): Promise<void> {
  await expect.poll(async () => (await node.put(path, content)).status).toBe(201)
}
const blobs = (): Promise<{ key: string | null }[]> => nodes.ask('select key from blobs')

test('content goes a while after the last that refers to it, and not before', async () => {
  const [large, small] = [randomBytes(100_000), randomBytes(100)]
  for (const [name, content] of Object.entries({ large, small }))
    for (const path of [`/${name}/a`, `/${name}/b`]) await put(nodes.one, path, content)
  const { url } = (await (await nodes.one.get('/large/a')).json()) as { url: string }
  const copied = await nodes.two.call('PUT', files('/copied'), {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...documentOf(''), file_type: 'uri', file: url }),
  })
  expect(copied.status).toBe(201)
  const kept = await blobs()
  expect(kept).toHaveLength(2)
  expect(await objects()).toEqual(kept.flatMap(({ key }) => key ?? []))
  await nodes.two.delete('/large')
  await nodes.two.delete('/small/a')
  // Looked at and found to be in use.
  await expect.poll(() => nodes.ask('select 1 from blobs where unreferenced_since is not null')).toEqual([])
  expect(await blobs()).toHaveLength(2)
  await nodes.one.delete('/copied')
  await nodes.one.delete('/small/b')
  await expect.poll(objects).toEqual([])
  await expect.poll(blobs).toEqual([])
  await put(nodes.one, '/large/a', large)
  expect(await objects()).toHaveLength(1)
})

test('a copy of a document whose bytes the storage lost is refused', async () => {
  await put(nodes.one, '/large', randomBytes(100_000))
  const { url } = (await (await nodes.one.get('/large')).json()) as { url: string }
  const folder = join(nodes.folder, 'blobs')
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  for (const entry of entries) if (entry.isFile()) await unlink(join(entry.parentPath, entry.name))
  const copied = await nodes.two.call('PUT', files('/copied'), {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...documentOf(''), file_type: 'uri', file: url }),
  })
  expect(await errorOf(copied)).toMatchObject({ status: 400, message: expect.stringContaining('is gone') })
  expect((await nodes.two.get('/copied')).status).toBe(404)
})

test('content is one for all, and who comes second leaves no bytes', async () => {
  await nodes.close()
  nodes = await startNodes()
  const content = randomBytes(200_000)
  const puts = Array.from({ length: 20 }, (_, at) =>
    (at % 2 === 0 ? nodes.one : nodes.two).put(`/${at}`, content),
  )
  expect(new Set((await Promise.all(puts)).map(({ status }) => status))).toEqual(new Set([201]))
  await nodes.one.put('/0', randomBytes(200_000))
  expect(await objects()).toEqual([(await blobs())[0]!.key])
})

test('what a crash left without a row goes, what somebody is writing does not', async () => {
  await put(nodes.one, '/kept', randomBytes(100_000))
  const [kept] = await objects()
  const folder = join(nodes.folder, 'blobs')
  const old = new Date(Date.now() - 60_000)
  const orphan = `ab${randomBytes(31).toString('hex')}`
  await mkdir(join(folder, 'ab'), { recursive: true })
  for (const name of [`ab/${orphan}`, 'incoming/begun', 'incoming/under-way']) {
    await writeFile(join(folder, name), 'bytes')
    if (!name.endsWith('under-way')) await utimes(join(folder, name), old, old)
  }
  const later = new Date(Date.now() + 3_600_000)
  await utimes(join(folder, 'incoming/under-way'), later, later)
  await expect.poll(async () => new Set(await objects())).toEqual(new Set([kept, 'under-way']))
  expect((await nodes.two.get('/kept')).status).toBe(200)
})

test('contents that the database knows nothing of are somebody’s documents: they stay, and the log tells', async () => {
  await put(nodes.one, '/kept', randomBytes(100_000))
  const kept = await objects()
  const [key = ''] = kept
  const old = new Date(Date.now() - 60_000)
  await utimes(join(nodes.folder, 'blobs', key.slice(0, 2), key), old, old)
  const told: string[] = []
  const log = { ...silentLog, error: (_fields: object, message?: string) => void told.push(message ?? '') }
  const database = await freshDatabase()
  const misled = await startTestService({ dataDir: nodes.folder, database, graceMs, log })
  try {
    await expect.poll(() => told.join()).toContain('is it the database of this folder')
    expect(await objects()).toEqual(kept)
    expect((await nodes.two.get('/kept')).status).toBe(200)
  } finally {
    await misled.close()
  }
})

test('content is adopted again while it waits to be taken away', async () => {
  const content = randomBytes(60_000)
  for (let round = 0; round < 5; round++) {
    await put(nodes.one, '/again', content)
    const { url } = (await (await nodes.two.get('/again')).json()) as { url: string }
    expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(content)).toBe(true)
    await nodes.two.delete('/again')
    await setTimeout(Math.random() * 2 * graceMs)
  }
})

test('who took so long to upload that a sweep may be looking at the bytes is told to try again', async () => {
  const hurried = await startNodes({ graceMs: 1 })
  expect(await errorOf(await hurried.one.put('/late', randomBytes(100_000)))).toMatchObject({ status: 503 })
  expect((await hurried.one.put('/small', 'in the database')).status).toBe(201)
  expect((await hurried.two.get('/late')).status).toBe(404)
  await hurried.close()
})

test('who took so long to upload that a sweep has taken the bytes is told to try again', async () => {
  const hurried = await startNodes({ graceMs: 1_000 })
  const incoming = join(hurried.folder, 'blobs/incoming')
  const body = JSON.stringify(documentOf(randomBytes(8_000_000)))
  async function* halves(): AsyncGenerator<string> {
    yield body.slice(0, body.length / 2)
    await expect.poll(() => readdir(incoming)).toHaveLength(1)
    for (const name of await readdir(incoming)) await unlink(join(incoming, name))
    await setTimeout(600)
    yield body.slice(body.length / 2)
  }
  const answer = await hurried.one.call('PUT', files('/late'), {
    headers: { 'content-type': 'application/json' },
    body: Readable.toWeb(Readable.from(halves())),
    duplex: 'half',
  })
  expect(await errorOf(answer)).toMatchObject({ status: 503 })
  await hurried.close()
})
