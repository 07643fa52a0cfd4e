// Reach: what turns it away, what answers meanwhile, and what brings it back.

import { realWorld } from '../../../src/world/world.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { createClient, type Client } from '../../../src/api/client.ts'
import { NetworkError } from '../../../src/api/errors.ts'
import { WatchedFiles } from '../../../src/content/reach/watched-files.ts'
import { silentLog } from '../../../src/log.ts'
import { fastWorld } from '../../support/fast-world.ts'
import { reckonedWorld } from '../../support/reckoned-world.ts'
import { startNetwork, type Network } from '../../support/network.ts'
import { project, startTestService, type TestService } from '../../support/service.ts'
import { waitUntil } from '../../support/wait-until.ts'

let service: TestService
let network: Network
let client: Client
let files: WatchedFiles

beforeEach(async () => {
  service = await startTestService()
  network = await startNetwork(() => Number(new URL(service.baseUrl).port))
  client = createClient({ baseUrl: network.baseUrl, apiKey: service.apiKey })
  files = new WatchedFiles(client.files(project), silentLog, realWorld())
  await service.other.put('/a.txt', 'a')
  await files.get('/')
})

afterEach(async () => {
  files.close()
  await client.close()
  await network.close()
  await service.close()
})

const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

const kindOf = async (work: Promise<unknown>): Promise<string | undefined> => {
  const error = await errorOf(work)
  return error instanceof NetworkError ? error.kind : String(error)
}

describe('reach', () => {
  for (const state of ['refused', 'black-hole', 'portal', 'gateway'] as const) {
    it(`${state}: the first question finds out, and nothing is sent after it but the probe`, async () => {
      await network.set(state)
      expect(['away', 'unreachable']).toContain(await kindOf(files.get('/a.txt', { deadlineMs: 14_000 })))
      expect(files.reach.state).toBe('away')
      const before = network.requests
      for (let i = 0; i < 50; i++) expect(await kindOf(files.get('/a.txt'))).toBe('away')
      expect(network.requests - before).toBeLessThanOrEqual(1)
      await network.set('up')
      await expect.poll(() => files.reach.isAway).toBe(false)
      expect(await files.get('/a.txt')).toMatchObject({ kind: 'file', size: 1 })
    })
  }

  it('a key that was renewed is found, whoever asks for anything, and what waits for it hears of it once', async () => {
    let key = 'refused'
    let [taken, reads] = [0, 0]
    const world = reckonedWorld()
    const apiKey = {
      read: async () => {
        reads++
        return key
      },
    }
    const keyed = createClient({ baseUrl: network.baseUrl, apiKey, world })
    await using _ = { [Symbol.asyncDispose]: () => keyed.close() }
    const waiting = new WatchedFiles(keyed.files(project), silentLog, world, { onTaken: () => void taken++ })
    expect(await errorOf(waiting.get('/'))).toMatchObject({ status: 401 })
    expect(waiting.keyRefusal).toMatch(/401/)
    // At first, at the refusal, and when it was refused once more.
    await waitUntil('that it is looked for', () => reads > 2)
    key = service.apiKey
    await waitUntil('the new key', () => taken > 0)
    expect([taken, waiting.keyRefusal]).toEqual([1, undefined])
    waiting.close()
  })

  it('a host that no name server knows is away', async () => {
    const nowhere = createClient({ baseUrl: 'http://docmount.invalid/api', apiKey: 'k' })
    const lost = new WatchedFiles(nowhere.files(project), silentLog, realWorld())
    expect(await kindOf(lost.get('/'))).toMatch(/away|unreachable/)
    expect(lost.reach.isAway).toBe(true)
    lost.close()
    await nowhere.close()
  })

  it('a black hole is found out within five seconds, by whoever asked first and by all who ask later', async () => {
    const world = reckonedWorld()
    const watching = createClient({ baseUrl: network.baseUrl, apiKey: service.apiKey, world })
    await using _ = { [Symbol.asyncDispose]: () => watching.close() }
    files = new WatchedFiles(watching.files(project), silentLog, world)
    await files.get('/')
    await network.set('black-hole')
    const startedAt = world.clock.monotonic()
    const first = kindOf(files.get('/a.txt', { deadlineMs: 14_000 }))
    await waitUntil('doubt', () => files.reach.state === 'doubtful')
    const others = [kindOf(files.get('/')), kindOf(files.get('/b', { deadlineMs: 14_000 }))]
    expect(await Promise.all([first, ...others])).toEqual(['away', 'away', 'away'])
    // A look that came a moment early is taken again.
    expect(world.clock.monotonic() - startedAt).toBeLessThan(5_100)
  })

  it('a black hole is found out behind an upload of megabytes, too, whose bytes excuse no silence for ever', async () => {
    const world = fastWorld(20)
    const watching = createClient({ baseUrl: network.baseUrl, apiKey: service.apiKey, world })
    await using _ = { [Symbol.asyncDispose]: () => watching.close() }
    files.close()
    files = new WatchedFiles(watching.files(project), silentLog, world)
    await files.get('/')
    await network.set('black-hole')
    const content = { kind: 'bytes', size: 4_000_000, open: async function* () { yield Buffer.alloc(4_000_000) } } as const // prettier-ignore
    const uploading = errorOf(
      // Its usual deadline, two minutes of silence, may come first on a busy machine.
      files.upload(
        '/lost.png',
        { mimetype: 'image/png', filename: 'l.png', content },
        { deadlineMs: 3_600_000 },
      ),
    )
    const startedAt = world.clock.monotonic()
    expect(await kindOf(files.get('/a.txt', { deadlineMs: 14_000 }))).toBe('away')
    expect(world.clock.monotonic() - startedAt, 'the upload is an excuse').toBeGreaterThan(60_000)
    await network.set('up')
    expect(await uploading).toMatchObject({ kind: 'cut' })
  })

  it('fewer uploads should go at a time while questions are later than usual behind one', async () => {
    service.service.faults.inject({ kind: 'latency', ms: 5_000 }, { method: 'PUT' })
    const content = { kind: 'bytes', size: 100_000, open: async function* () { yield Buffer.alloc(100_000) } } as const // prettier-ignore
    const uploading = files.upload('/b.png', { mimetype: 'image/png', filename: 'b.png', content })
    await waitUntil('the upload to arrive', () =>
      service.service.calls.some(({ method }) => method === 'PUT'),
    )
    for (let i = 0; i < 8; i++) await files.get('/a.txt')
    expect(files.uplink.atOnce(8)).toBe(8)
    service.service.faults.inject({ kind: 'latency', ms: 2_000 }, { method: 'GET' })
    await Promise.all(Array.from({ length: 8 }, () => files.get('/a.txt')))
    expect(files.uplink.atOnce(8)).toBe(2)
    await uploading
    expect(files.uplink.atOnce(8)).toBe(8)
  })

  it('a download under way is given up when the service is away', async () => {
    const record = await files.get('/a.txt')
    const url = record.kind === 'file' ? (record.url ?? '') : ''
    await network.set('black-hole')
    expect(await kindOf(files.download(url, '/a.txt', { offset: 0, length: 1 }))).toBe('away')
  })

  it('a service that takes four seconds is slow, not away', async () => {
    service.service.faults.inject({ kind: 'latency', ms: 4_000 }, { endpoint: 'files', method: 'GET' })
    const states: string[] = []
    files.reach.onChange((state) => states.push(state))
    expect(await files.get('/a.txt', { deadlineMs: 14_000 })).toMatchObject({ size: 1 })
    expect(states).not.toContain('away')
    expect(files.reach.state).toBe('reachable')
  })

  it('a listing whose bytes come slowly raises no doubt', async () => {
    for (let i = 0; i < 20; i++) await service.other.put(`/many/document-${i}.txt`, 'x')
    service.service.faults.inject({ kind: 'slow-drip', bytesPerSecond: 1_500 }, { path: '/many' })
    const states: string[] = []
    files.reach.onChange((state) => states.push(state))
    expect(await files.get('/many', { deadlineMs: 14_000 })).toMatchObject({ kind: 'folder' })
    expect(states).toEqual([])
  })

  it('an upload that waits for its answer longer than five seconds is let finish', async () => {
    service.service.faults.inject({ kind: 'latency', ms: 7_000 }, { method: 'PUT' })
    const content = { kind: 'bytes', size: 1, open: async function* () { yield Buffer.from('x') } } as const // prettier-ignore
    await files.upload('/slow.txt', { mimetype: 'text/plain', filename: 'slow.txt', content })
    expect(files.reach.state).toBe('reachable')
  })

  it('an upload into a black hole has it found out, and goes on itself', async () => {
    await network.set('black-hole')
    const content = { kind: 'bytes', size: 1, open: async function* () { yield Buffer.from('x') } } as const // prettier-ignore
    let isOver = false
    const uploading = errorOf(
      files.upload('/lost.txt', { mimetype: 'text/plain', filename: 'lost.txt', content }),
    ).finally(() => (isOver = true))
    await waitUntil('the drive to know', () => files.reach.isAway)
    expect(isOver).toBe(false)
    await network.set('up')
    expect(await uploading).toMatchObject({ kind: 'cut' })
  })

  it('a question on a dead connection is asked again on a new one', async () => {
    const world = reckonedWorld()
    const single = createClient({ baseUrl: network.baseUrl, apiKey: service.apiKey, connections: 1, world })
    await using _ = { [Symbol.asyncDispose]: () => single.close() }
    files = new WatchedFiles(single.files(project), silentLog, world)
    await files.get('/')
    network.forgetConnections()
    const before = network.requests
    const startedAt = world.clock.monotonic()
    expect(await files.get('/a.txt', { deadlineMs: 14_000 })).toMatchObject({ size: 1 })
    expect(files.reach.state).toBe('reachable')
    expect(world.clock.monotonic() - startedAt).toBeLessThan(5_100)
    expect(network.requests - before, 'the question, the probe, the question').toBe(3)
  })

  it('a change on a connection of before an absence is ended once the service is back, and its outcome is unknown', async () => {
    service.service.faults.inject({ kind: 'latency', ms: 60_000 }, { method: 'DELETE' })
    const deleting = kindOf(files.delete('/a.txt', { attempts: 1, deadlineMs: 120_000 }))
    await waitUntil('the delete to arrive', () =>
      service.service.calls.some(({ method }) => method === 'DELETE'),
    )
    await network.set('black-hole')
    await kindOf(files.get('/a.txt'))
    expect(files.reach.isAway).toBe(true)
    service.service.faults.clear()
    await network.set('up')
    expect(await deleting).toBe('cut')
  })

  it('a single 503 is no absence', async () => {
    service.service.faults.inject({ kind: 'status', status: 503 }, { path: '/a.txt', times: 1 })
    const states: string[] = []
    files.reach.onChange((state) => states.push(state))
    expect(await files.get('/a.txt')).toMatchObject({ size: 1 })
    expect(states).not.toContain('away')
  })

  it('401, 404 and 500 are answers', async () => {
    for (const status of [401, 404, 500]) {
      const clear = service.service.faults.inject({ kind: 'status', status }, { path: '/a.txt' })
      await errorOf(files.get('/a.txt', { attempts: 1 }))
      expect(files.reach.state).toBe('reachable')
      clear()
    }
  })

  it('whoever asks for it has the probe sent now', async () => {
    await network.set('refused')
    await errorOf(files.get('/a.txt'))
    // Far into the pauses.
    await waitUntil('three probes in vain', () => files.failedCalls >= 4)
    await network.set('up')
    files.reach.probeNow()
    await expect.poll(() => files.reach.isAway).toBe(false)
  })
})
