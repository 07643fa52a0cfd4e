import { realWorld } from '../../../src/world/world.ts'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { PresignedUrls } from '../../../src/content/read/presigned-urls.ts'
import { never, setUpReading } from './reading-setup.ts'
import type { ReadingSetup } from './reading-setup.ts'

let setup: ReadingSetup
beforeAll(async () => {
  setup = await setUpReading()
})
afterEach(() => setup.service.faults.clear())
afterAll(() => setup.close())

test('a URL is good for 14 minutes from when its record was asked for', async () => {
  let now = 1_000_000
  const urls = new PresignedUrls({ files: setup.files, now: () => now })
  const { version, file } = await setup.store('/ttl.txt', 10)
  urls.remember(version.path, file, now - 60_000)
  setup.service.clearCalls()
  now += 13 * 60_000 - 1
  expect(await urls.get(version, never)).toBe(file.url)
  now += 2
  await urls.get(version, never)
  expect(setup.service.calls).toHaveLength(1)
})

test('an older record does not replace a younger one', async () => {
  const urls = new PresignedUrls({ files: setup.files, now: realWorld().clock.steady })
  const { version, file } = await setup.store('/order.txt', 10)
  const now = Date.now()
  urls.remember(version.path, file, now)
  urls.remember(version.path, { ...file, size: 9, url: 'http://127.0.0.1/old' }, now - 1)
  expect(await urls.get(version, never)).toBe(file.url)
})

test('a known record of another version is not believed before the service was asked', async () => {
  const urls = new PresignedUrls({ files: setup.files, now: realWorld().clock.steady })
  const { version, file } = await setup.store('/stale-listing.txt', 10)
  urls.remember(version.path, { ...file, size: 9, url: 'http://127.0.0.1/old' }, Date.now())
  expect(await urls.get(version, never)).toMatch(/^http/)
})

test('an abort ends only the wait of its caller', async () => {
  const urls = new PresignedUrls({ files: setup.files, now: realWorld().clock.steady })
  const { version } = await setup.store('/abort.txt', 10)
  setup.service.faults.inject({ kind: 'latency', ms: 200 }, { endpoint: 'files', times: 1 })
  const controller = new AbortController()
  const impatient = urls.get(version, controller.signal)
  const patient = urls.get(version, never)
  controller.abort(new Error('interrupted'))
  await expect(impatient).rejects.toThrow('interrupted')
  expect(await patient).toMatch(/^http/)
})

test('a record that is another version is told, and ESTALE', async () => {
  const told: string[] = []
  const urls = new PresignedUrls({
    files: setup.files,
    now: realWorld().clock.steady,
    onChanged: (path, file) => told.push(`${path} ${file.size}`),
  })
  const { version } = await setup.store('/changed.txt', 10)
  await setup.store('/changed.txt', 11)
  await expect(urls.get(version, never)).rejects.toMatchObject({ code: 'ESTALE' })
  expect(told).toEqual(['/changed.txt 11'])
})

test('a refused URL is renewed by one call for everybody who was refused', async () => {
  const urls = new PresignedUrls({ files: setup.files, now: realWorld().clock.steady })
  const { version, file } = await setup.store('/renewed.txt', 10)
  urls.remember(version.path, file, Date.now())
  setup.service.clearCalls()
  const renewals = Array.from({ length: 5 }, () => urls.renew(version, file.url ?? '', never))
  expect(new Set(await Promise.all(renewals)).size).toBe(1)
  expect(setup.service.calls).toHaveLength(1)
})

test('a folder that took the place of a document is ESTALE', async () => {
  const urls = new PresignedUrls({ files: setup.files, now: realWorld().clock.steady })
  const { version } = await setup.store('/becomes/folder', 10)
  await setup.files.delete('/becomes/folder')
  await setup.store('/becomes/folder/inside.txt', 10)
  await expect(urls.get(version, never)).rejects.toMatchObject({ code: 'ESTALE' })
})

test('a service that says no to the caller is not taken for a missing document', async () => {
  const urls = new PresignedUrls({ files: setup.files, now: realWorld().clock.steady })
  const { version } = await setup.store('/denied.txt', 10)
  setup.service.faults.inject({ kind: 'status', status: 403 }, { endpoint: 'files' })
  await expect(urls.get(version, never)).rejects.toMatchObject({ name: 'ApiError', status: 403 })
})
