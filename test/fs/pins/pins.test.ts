// Pinned documents are here: fetched automatically, kept whatever else is read, fresh while the service is there, read without it.

import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { patternedBytes } from '../../support/bytes.ts'
import { waitUntil } from '../../support/wait-until.ts'
import { never, usePins } from './pins-setup.ts'

const MiB = 1024 * 1024
/** Long enough that no pin is looked at again automatically. */
const longTtlMs = 600_000
const setup = usePins()

/** Documents with known bytes, some in folders of their own. */
async function fill(folder: string, sizes: readonly number[]): Promise<Map<string, Buffer>> {
  const documents = new Map<string, Buffer>()
  for (const [at, size] of sizes.entries()) {
    const path = `${folder}/${at % 2 === 0 ? '' : 'below/'}${at}.pdf`
    const content = patternedBytes(size, path)
    await setup.service.other.put(path, content)
    documents.set(path, content)
  }
  return documents
}

async function expectReadable(documents: ReadonlyMap<string, Buffer>): Promise<void> {
  for (const [path, content] of documents)
    expect((await setup.calls.readFile(path)).equals(content), path).toBe(true)
}

describe('a pinned folder', () => {
  test('is read and listed without the service, though nobody ever read it, also after a kill', async () => {
    const documents = await fill('/reports/2026', [0, 1_000, 300_000, 5 * MiB + 3])
    await setup.start()
    await setup.pin('/reports')
    const pin = await setup.untilHere('/reports')
    expect(pin).toMatchObject({ documents: 4, documentsHere: 4, bytesHere: pin.bytes, problem: undefined })
    await setup.end()
    await setup.service.stop()
    await setup.start()
    expect((await setup.calls.readdir('/reports/2026')).toSorted()).toEqual(['0.pdf', '2.pdf', 'below'])
    expect((await setup.calls.readdir('/reports/2026/below')).toSorted()).toEqual(['1.pdf', '3.pdf'])
    await expectReadable(documents)
    await waitUntil('it to be counted', () => setup.pinOf('/reports').state === 'here')
  })

  test('stays, whatever else is read through a small cache', async () => {
    const documents = await fill('/pinned', [2 * MiB, 2 * MiB, 2 * MiB])
    const others = await fill('/other', [3 * MiB, 3 * MiB, 3 * MiB, 3 * MiB, 3 * MiB])
    await setup.start({ cacheSizeBytes: 4 * MiB })
    await setup.pin('/pinned')
    await setup.untilHere('/pinned')
    await expectReadable(others)
    await setup.end()
    await setup.service.stop()
    await setup.start()
    await expectReadable(documents)
    const { cachedBytes, pinnedBytes } = await setup.fileSystem.cache()
    expect(cachedBytes).toBeLessThanOrEqual(4 * MiB)
    expect(pinnedBytes).toBeGreaterThan(6 * MiB)
  })

  test('is kept without any cache beside it', async () => {
    const documents = await fill('/pinned', [300_000])
    await setup.start({ cacheSizeBytes: 0 })
    await setup.pin('/pinned')
    await setup.untilHere('/pinned')
    await setup.end()
    await setup.service.stop()
    await setup.start()
    await expectReadable(documents)
  })

  test('gets what others change and add by itself', async () => {
    await fill('/shared', [1_000, 1_000])
    await setup.start({ cacheTtlMs: 300 })
    await setup.pin('/shared')
    await setup.untilHere('/shared')
    await setup.service.other.delete('/shared/0.pdf')
    await setup.service.other.put('/shared/0.pdf', 'another version')
    await setup.service.other.put('/shared/new/one.txt', 'new')
    await setup.untilHere('/shared', ({ documents }) => documents === 3)
    await setup.end()
    await setup.service.stop()
    await setup.start()
    expect((await setup.calls.readFile('/shared/0.pdf')).toString()).toBe('another version')
    expect((await setup.calls.readFile('/shared/new/one.txt')).toString()).toBe('new')
  })

  test('keeps what is saved into it here', async () => {
    await fill('/own', [1_000])
    await setup.start({ cacheSizeBytes: 0, cacheTtlMs: 300 })
    await setup.pin('/own')
    await setup.untilHere('/own')
    const content = patternedBytes(400_000, 'saved')
    await setup.calls.writeFile('/own/saved.pdf', content)
    await setup.fileSystem.wait('/', { timeoutMs: 20_000 })
    await setup.untilHere('/own', ({ documents }) => documents === 2)
    const fetched = setup.service.service.calls.filter(({ endpoint }) => endpoint === 'download')
    expect(fetched.map(({ path }) => path)).not.toContain('/own/saved.pdf')
    await setup.end()
    await setup.service.stop()
    await setup.start()
    expect((await setup.calls.readFile('/own/saved.pdf')).equals(content)).toBe(true)
  })

  test.each([1_000, 400_000])(
    'keeps %i bytes that are saved into it here before it is looked at again',
    async (size) => {
      await fill('/own', [1_000])
      await setup.start({ cacheSizeBytes: 0, cacheTtlMs: longTtlMs })
      await setup.pin('/own')
      await setup.untilHere('/own')
      const content = patternedBytes(size, 'saved')
      await setup.calls.writeFile('/own/saved.pdf', content)
      await setup.fileSystem.wait('/', { timeoutMs: 20_000 })
      await waitUntil('it to be kept', async () => (await setup.fileSystem.cache()).pinnedDocuments === 2)
      expect(setup.pinOf('/own').documents).toBe(1)
      await setup.fileSystem.clearCache({ withPinned: false })
      await setup.service.stop()
      expect((await setup.calls.readFile('/own/saved.pdf')).equals(content)).toBe(true)
    },
  )

  test.each([1_000, 400_000])(
    'keeps %i bytes that are saved into it here while it is looked at',
    async (size) => {
      await fill('/own', [1_000, 1_000])
      await setup.start({ cacheSizeBytes: 0, cacheTtlMs: longTtlMs })
      await setup.pin('/own')
      await setup.untilHere('/own')
      await setup.service.other.put('/own/below/2.pdf', 'new')
      const { service } = setup.service
      service.faults.inject({ kind: 'latency', ms: 2_000 }, { endpoint: 'files', path: /below$/, times: 1 })
      service.clearCalls()
      await setup.fileSystem.refresh('/')
      await waitUntil('the look', () => service.calls.some(({ path }) => path === '/own/below'))
      await setup.calls.writeFile('/own/saved.pdf', patternedBytes(size, 'saved'))
      await setup.fileSystem.wait('/', { timeoutMs: 20_000 })
      await setup.untilHere('/own', ({ documents }) => documents === 3)
      await waitUntil('it to be kept', async () => (await setup.fileSystem.cache()).pinnedDocuments === 4)
    },
  )

  test('is mended where the disk did not keep what was written', async () => {
    const documents = await fill('/pinned', [300_000])
    await setup.start({ cacheTtlMs: 300 })
    await setup.pin('/pinned')
    await setup.untilHere('/pinned')
    await setup.end()
    const folder = join(setup.cacheDir, 'pinned')
    const [file = ''] = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter((path) => statSync(path).isFile())
    const written = readFileSync(file)
    const damaged = Buffer.from(written)
    for (let at = 7; at < 300_000; at += 1_000) damaged[at] = (damaged[at] ?? 0) ^ 4
    writeFileSync(file, damaged)
    await setup.start()
    await expectReadable(documents)
    await waitUntil('it to be mended', () => readFileSync(file).equals(written))
  })

  test('is fetched anew when the cache folder is gone', async () => {
    const documents = await fill('/pinned', [300_000])
    await setup.start()
    await setup.pin('/pinned')
    await setup.untilHere('/pinned')
    await setup.end()
    rmSync(setup.cacheDir, { recursive: true })
    await setup.start()
    await setup.untilHere('/pinned')
    await setup.service.stop()
    await expectReadable(documents)
  })
})

describe('a pinned folder', () => {
  test.each(['the cache folder', 'one of its files'])(
    'is fetched anew when %s is removed while it is mounted',
    async (what) => {
      const documents = await fill('/pinned', [300_000, 1_000])
      await setup.start({ cacheTtlMs: 300 })
      await setup.pin('/pinned')
      await setup.untilHere('/pinned')
      await expectReadable(documents)
      const files = (): string[] =>
        existsSync(join(setup.cacheDir, 'pinned'))
          ? readdirSync(join(setup.cacheDir, 'pinned'), { recursive: true, encoding: 'utf8' }).filter(
              (name) => name.includes('.'),
            )
          : []
      const before = files()
      const [one = ''] = before
      rmSync(what === 'the cache folder' ? setup.cacheDir : join(setup.cacheDir, 'pinned', one), {
        recursive: true,
      })
      await waitUntil('it to be fetched', () => files().length === before.length)
      await setup.untilHere('/pinned')
      await setup.end()
      await setup.service.stop()
      await setup.start()
      await expectReadable(documents)
    },
  )
})

describe('a pin', () => {
  test('of one document keeps that one', async () => {
    await setup.service.other.put('/a/b/c.txt', 'pinned')
    await setup.service.other.put('/a/b/d.txt', 'not pinned')
    await setup.start()
    await setup.pin('/a/b/c.txt')
    expect(await setup.untilHere('/a/b/c.txt')).toMatchObject({ documents: 1, bytes: 6 })
    await setup.end()
    await setup.service.stop()
    await setup.start()
    expect((await setup.calls.readFile('/a/b/c.txt')).toString()).toBe('pinned')
    await expect(setup.calls.readFile('/a/b/d.txt')).rejects.toMatchObject({ code: 'ETIMEDOUT' })
  })

  test('that needs more than --pin-size is refused, with what it needs and what is free', async () => {
    await fill('/small', [1 * MiB])
    await fill('/large', [2 * MiB, 2 * MiB])
    await setup.start({ pinSizeBytes: 4 * MiB })
    await setup.pin('/small')
    await setup.untilHere('/small')
    const answer = await setup.fileSystem.pin('/large', { signal: never })
    expect(answer).toMatchObject({ kind: 'no-room', bound: 'pin-size', documents: 2, sizeBytes: 4 * MiB })
    if (answer.kind !== 'no-room') throw new Error('pinned')
    expect(answer.needBytes).toBeGreaterThanOrEqual(4 * MiB)
    expect(answer.freeBytes).toBeLessThanOrEqual(3 * MiB)
    expect(setup.fileSystem.pins().map(({ path }) => path)).toEqual(['/small'])
  })

  test('that grows beyond --pin-size keeps what fits, and says so', async () => {
    const documents = await fill('/grows', [1 * MiB, 1 * MiB])
    await setup.start({ pinSizeBytes: 4 * MiB, cacheTtlMs: 300 })
    await setup.pin('/grows')
    await setup.untilHere('/grows')
    await setup.service.other.put('/grows/huge.pdf', patternedBytes(3 * MiB, 'huge'))
    await waitUntil('it to be told', () => setup.pinOf('/grows').problem?.includes('beyond --pin-size'))
    expect(setup.pinOf('/grows')).toMatchObject({ state: 'incomplete', documents: 3, documentsHere: 2 })
    await setup.service.stop()
    await expectReadable(documents)
  })

  test('made while the service is away is kept when it is back', async () => {
    const documents = await fill('/later', [1_000, 200_000])
    await setup.service.other.put('/now/a.txt', 'a')
    await setup.start()
    await setup.pin('/now')
    await setup.untilHere('/now')
    await setup.service.stop()
    await setup.calls.readdir('/later').catch(() => {})
    await waitUntil('it to be away', () => setup.fileSystem.status().service === 'away')
    const answer = await setup.fileSystem.pin('/later', { signal: never })
    expect(answer).toMatchObject({ kind: 'pinned', isAway: true })
    await setup.end()
    await setup.start()
    expect(setup.pinOf('/later').state).not.toBe('here')
    await setup.service.start()
    setup.fileSystem.retry('/')
    await setup.untilHere('/later')
    await setup.service.stop()
    await expectReadable(documents)
  })

  test('of what is not there is refused', async () => {
    await setup.start()
    await expect(setup.fileSystem.pin('/nowhere', { signal: never })).rejects.toMatchObject({
      code: 'ENOENT',
    })
    expect(setup.fileSystem.pins()).toEqual([])
  })

  test('of what is no longer there says so, until it is there again', async () => {
    await fill('/gone', [1_000])
    await setup.start({ cacheTtlMs: 300 })
    await setup.pin('/gone')
    await setup.untilHere('/gone')
    await setup.service.other.delete('/gone')
    await waitUntil('the pin to hear of it', () => setup.pinOf('/gone').documents === 0)
    expect(setup.pinOf('/gone')).toMatchObject({ state: 'incomplete', problem: 'nothing has this name now' })
    await setup.service.other.put('/gone/again.txt', 'again')
    await setup.untilHere('/gone', ({ documents, problem }) => documents === 1 && problem === undefined)
  })

  test('that ends goes to the cache, where what it kept is still read', async () => {
    const documents = await fill('/pinned', [300_000])
    await setup.start()
    await setup.pin('/pinned')
    await setup.untilHere('/pinned')
    setup.fileSystem.unpin('/pinned')
    expect(setup.fileSystem.pins()).toEqual([])
    await waitUntil('it to be given up', async () => (await setup.fileSystem.cache()).pinnedBytes === 0)
    await setup.service.stop()
    await expectReadable(documents)
    expect(() => setup.fileSystem.unpin('/pinned')).toThrow('it is not pinned')
  })

  test('follows a folder that is renamed here, and stays with a document whose backup is made', async () => {
    await fill('/before', [1_000])
    await setup.service.other.put('/letter.txt', 'first')
    await setup.start({ cacheTtlMs: 300 })
    await setup.pin('/before')
    await setup.pin('/letter.txt')
    await setup.calls.rename('/before', '/after')
    await setup.calls.rename('/letter.txt', '/letter.txt~')
    await setup.calls.writeFile('/letter.txt', 'second')
    await setup.calls.rename('/letter.txt', '/letter.txt.bak')
    await setup.calls.writeFile('/letter.txt', 'third')
    expect(setup.fileSystem.pins().map(({ path }) => path)).toEqual(['/after', '/letter.txt'])
    await setup.fileSystem.wait('/', { timeoutMs: 20_000 })
    await setup.untilHere('/after', ({ documents }) => documents === 1)
    await setup.untilHere('/letter.txt', ({ bytes }) => bytes === 5)
  })

  test('follows a document to a name that tells no type once it has moved there, and stays where a successor comes', async () => {
    for (const name of ['/signed.pdf', '/table.csv']) await setup.service.other.put(name, 'first')
    await setup.start({ cacheTtlMs: 300 })
    for (const name of ['/signed.pdf', '/table.csv']) await setup.pin(name)
    await setup.calls.rename('/signed.pdf', '/contract.signed')
    await setup.calls.rename('/table.csv', '/7F2E8D41.tmp')
    await setup.calls.writeFile('/table.csv', 'second')
    await setup.calls.unlink('/7F2E8D41.tmp')
    await setup.fileSystem.wait('/', { timeoutMs: 20_000 })
    expect(setup.fileSystem.pins().map(({ path }) => path)).toEqual(['/contract.signed', '/table.csv'])
  })

  test('does what it can where some documents cannot be had, and tries those again', async () => {
    const documents = await fill('/some', [1_000, 2_000, 3_000])
    setup.service.service.faults.inject(
      { kind: 'status', status: 500 },
      { endpoint: 'download', path: /1\.pdf/ },
    )
    await setup.start()
    await setup.pin('/some')
    await waitUntil('the failure to be told', () =>
      setup.pinOf('/some').problem?.includes('/some/below/1.pdf'),
    )
    expect(setup.pinOf('/some')).toMatchObject({ state: 'incomplete', documentsHere: 2 })
    setup.service.service.faults.clear()
    setup.fileSystem.retry('/')
    await setup.untilHere('/some')
    await setup.service.stop()
    await expectReadable(documents)
  })

  test('whose file is damaged is set aside and named', async () => {
    await setup.start()
    await setup.end()
    writeFileSync(join(setup.stateDir, 'pins.json'), '{ "pins": 3')
    await setup.start()
    expect(setup.logged).toContain('what was pinned cannot be read: set aside, nothing is pinned')
    expect(setup.fileSystem.status().damaged).toEqual([expect.stringContaining('pins.json.damaged-')])
    expect(readdirSync(setup.stateDir)).not.toContain('pins.json')
  })
})

describe('fetch', () => {
  test('fills the cache once, and says what it did', async () => {
    const documents = await fill('/scans', [1_000, 3 * MiB])
    await setup.start()
    await setup.calls.readFile('/scans/0.pdf')
    const answer = await setup.fileSystem.fetch('/scans', { signal: never })
    expect(answer).toMatchObject({ kind: 'fetched', documents: 2, problems: [] })
    await setup.service.stop()
    await expectReadable(documents)
    expect(setup.fileSystem.pins()).toEqual([])
  })

  test('of more than the cache holds is refused, with what it needs', async () => {
    await fill('/scans', [3 * MiB, 3 * MiB])
    await setup.start({ cacheSizeBytes: 4 * MiB })
    const answer = await setup.fileSystem.fetch('/scans', { signal: never })
    expect(answer).toMatchObject({ kind: 'no-room', bound: 'cache-size', sizeBytes: 4 * MiB, documents: 2 })
  })
})

describe('the cache', () => {
  test('is cleared, but for what is pinned', async () => {
    const pinned = await fill('/pinned', [300_000])
    await fill('/other', [300_000])
    await setup.start()
    await setup.pin('/pinned')
    await setup.untilHere('/pinned')
    await setup.fileSystem.fetch('/other', { signal: never })
    expect(await setup.fileSystem.cache()).toMatchObject({ cachedDocuments: 1, pinnedDocuments: 1 })
    await setup.fileSystem.clearCache({ withPinned: false })
    expect(await setup.fileSystem.cache()).toMatchObject({
      cachedBytes: 0,
      cachedDocuments: 0,
      pinnedDocuments: 1,
    })
    await setup.service.stop()
    await expectReadable(pinned)
    await expect(setup.calls.readFile('/other/0.pdf')).rejects.toMatchObject({ code: 'ETIMEDOUT' })
    expect(readdirSync(setup.cacheDir)).toContain('pinned')
  })

  test('cleared with the pins is filled with them again', async () => {
    await fill('/pinned', [300_000])
    await setup.start()
    await setup.pin('/pinned')
    await setup.untilHere('/pinned')
    const before = await setup.fileSystem.clearCache({ withPinned: true })
    expect(before.pinnedDocuments).toBe(1)
    await waitUntil('it to be here again', async () => (await setup.fileSystem.cache()).pinnedDocuments === 1)
    await setup.untilHere('/pinned')
  })
})
