import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Fault } from '../support/faults/fault.ts'
import { type TestService, documentOf, errorOf, files, startTestService } from './support.ts'

let service: TestService

beforeAll(async () => {
  service = await startTestService()
  await service.put('/kept.txt', 'the content of a document')
})
beforeEach(() => service.service.clearCalls())
afterEach(() => service.service.faults.clear())
afterAll(() => service.close())

interface FileAnswer {
  readonly name: string
  readonly size?: number
  readonly url: string
}

const fileAt = async (path: string): Promise<FileAnswer> =>
  (await (await service.get(path)).json()) as FileAnswer

async function namesIn(path: string): Promise<string[]> {
  const { entries } = (await (await service.get(path)).json()) as { entries: { name: string }[] }
  return entries.map((entry) => entry.name)
}

/** Expects that the client gets no answer that it could read. */
async function expectCut(answer: Promise<{ text(): Promise<string> }>): Promise<void> {
  await expect(answer.then((response) => response.text())).rejects.toThrow()
}

test('without faults nothing misbehaves, and nothing is hit', async () => {
  expect((await service.get('/kept.txt')).status).toBe(200)
  expect(service.service.faults.hits).toBe(0)
})

test('as many answers may be held back as there are requests, and nobody is warned of a leak', async () => {
  const warnings: string[] = []
  const note = ({ name }: Error): void => void warnings.push(name)
  process.on('warning', note)
  try {
    service.service.faults.inject({ kind: 'latency', ms: 100 })
    const answers = await Promise.all(Array.from({ length: 12 }, () => service.get('/kept.txt')))
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect(warnings).toEqual([])
  } finally {
    process.off('warning', note)
  }
})

describe('a target', () => {
  const fault: Fault = { kind: 'status', status: 503 }
  const statusOf = async (path: string): Promise<number> => (await service.get(path)).status

  test('is any request unless it says which', async () => {
    const stop = service.service.faults.inject(fault)
    expect((await errorOf(await service.call('GET', '/projects'))).status).toBe(503)
    expect((await fetch((await fetch(`${service.service.baseUrl}/openapi.json`)).url)).status).toBe(200)
    stop()
    expect(await statusOf('/kept.txt')).toBe(200)
  })

  test('may be an endpoint, a method and a path', async () => {
    const { url } = await fileAt('/kept.txt')
    service.service.faults.inject(fault, { endpoint: 'files', method: 'delete' })
    service.service.faults.inject(fault, { path: '/a.txt' })
    service.service.faults.inject(fault, { endpoint: 'download', path: /^\/kept/g })
    expect([await statusOf('/kept.txt'), await statusOf('/a.txt'), await statusOf('/b/a.txt')]).toEqual([
      200, 503, 404,
    ])
    expect((await service.delete('/nothing.txt')).status).toBe(503)
    for (let round = 0; round < 3; round++) expect((await fetch(url)).status).toBe(503)
  })

  test('is hit as many times as it says', async () => {
    const before = service.service.faults.hits
    service.service.faults.inject(fault, { times: 2 })
    const statuses: number[] = []
    for (let round = 0; round < 4; round++) statuses.push(await statusOf('/kept.txt'))
    expect(statuses).toEqual([503, 503, 200, 200])
    expect(service.service.faults.hits - before).toBe(2)
  })

  test('is hit by chance, drawn from the given source', async () => {
    const draws = [0.1, 0.9, 0.49, 0.5]
    service.service.faults.random = () => draws.shift()!
    service.service.faults.inject(fault, { probability: 0.5 })
    const statuses: number[] = []
    for (let round = 0; round < 4; round++) statuses.push(await statusOf('/kept.txt'))
    expect(statuses).toEqual([503, 200, 503, 200])
  })
})

test('latency delays what is done', async () => {
  service.service.faults.inject({ kind: 'latency', ms: 300 }, { path: '/late.txt', method: 'PUT' })
  const answer = service.put('/late.txt', 'x')
  await expect.poll(() => service.service.faults.hits > 0 && service.service.calls.length).toBe(1)
  expect((await service.get('/late.txt')).status).toBe(404)
  expect((await answer).status).toBe(201)
})

test('status answers instead of doing anything, with Retry-After where asked', async () => {
  service.service.faults.inject({ kind: 'status', status: 429, retryAfter: 7 })
  const answer = await service.put('/refused.txt', 'x')
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '7'])
  service.service.faults.clear()
  expect((await service.get('/refused.txt')).status).toBe(404)
})

test('error-after-commit does everything and answers 500', async () => {
  service.service.faults.inject({ kind: 'error-after-commit' }, { times: 2 })
  expect((await errorOf(await service.put('/committed.txt', 'x'))).status).toBe(500)
  expect((await errorOf(await service.delete('/kept-not-there.txt'))).status).toBe(500)
  expect((await service.get('/committed.txt')).status).toBe(200)
})

test('error-after-commit answers another status where asked', async () => {
  service.service.faults.inject({ kind: 'error-after-commit', status: 409 }, { times: 1 })
  expect((await errorOf(await service.put('/committed-409.txt', 'x'))).status).toBe(409)
  expect((await service.get('/committed-409.txt')).status).toBe(200)
})

test('lost-answer does everything and cuts the connection', async () => {
  for (const [method, status] of [
    ['PUT', 200],
    ['DELETE', 404],
  ] as const) {
    service.service.clearCalls()
    service.service.faults.inject({ kind: 'lost-answer' }, { times: 1, method })
    await expectCut(method === 'PUT' ? service.put('/lost.txt', 'x') : service.delete('/lost.txt'))
    expect(service.service.calls).toEqual([
      expect.objectContaining({ method, path: '/lost.txt', status: undefined }),
    ])
    expect((await service.get('/lost.txt')).status).toBe(status)
  }
  service.service.faults.inject({ kind: 'lost-answer' }, { times: 1, endpoint: 'download' })
  await expectCut(fetch((await fileAt('/kept.txt')).url))
})

describe('cut-request', () => {
  test.each([[0], [100], [500_000], [10_000_000]])('after %i bytes stores nothing', async (afterBytes) => {
    service.service.faults.inject({ kind: 'cut-request', afterBytes }, { times: 1, method: 'PUT' })
    await expectCut(service.put('/cut.txt', Buffer.alloc(1_000_000)))
    expect((await service.get('/cut.txt')).status).toBe(404)
    expect((await service.put('/cut.txt', 'x')).status).toBe(201)
    await service.delete('/cut.txt')
  })

  test('of a request without a body cuts at once', async () => {
    service.service.faults.inject({ kind: 'cut-request', afterBytes: 10 }, { times: 1 })
    await expectCut(service.delete('/kept.txt'))
    expect((await service.get('/kept.txt')).status).toBe(200)
  })
})

describe('cut-response', () => {
  test.each([[0], [10], [1_500_000]])('sends %i bytes of a download and no more', async (afterBytes) => {
    await service.put('/long.txt', Buffer.alloc(2_500_000, 'x'))
    const { url } = await fileAt('/long.txt')
    await service.delete('/never.txt')
    service.service.faults.inject({ kind: 'cut-response', afterBytes }, { endpoint: 'download', times: 1 })
    const answer = await request(url)
    expect([answer.statusCode, answer.headers['content-length']]).toEqual([200, '2500000'])
    let received = 0
    await expect(
      (async () => {
        for await (const chunk of answer.body) received += (chunk as Buffer).byteLength
      })(),
    ).rejects.toThrow()
    expect(received).toBe(afterBytes)
    await service.delete('/long.txt')
  })

  test('cuts JSON as well, and lets shorter answers through', async () => {
    service.service.faults.inject({ kind: 'cut-response', afterBytes: 20 }, { endpoint: 'files', times: 1 })
    const answer = await request(`${service.service.baseUrl}${files('/')}`, {
      headers: { 'x-api-key': service.key },
    })
    await expect(answer.body.text()).rejects.toThrow()
    const { url } = await fileAt('/kept.txt')
    service.service.faults.inject(
      { kind: 'cut-response', afterBytes: 1000 },
      { endpoint: 'download', times: 1 },
    )
    expect(await (await fetch(url)).text()).toBe('the content of a document')
  })
})

test('slow-drip sends everything, piece by piece', async () => {
  service.service.faults.inject(
    { kind: 'slow-drip', bytesPerSecond: 100 },
    { endpoint: 'download', times: 1 },
  )
  const answer = await request((await fileAt('/kept.txt')).url)
  const pieces: string[] = []
  for await (const chunk of answer.body) pieces.push(String(chunk))
  expect(pieces.join('')).toBe('the content of a document')
  expect(pieces.length).toBeGreaterThan(2)
  expect(answer.headers['content-length']).toBe('25')
})

test('expired-url answers 403 to a valid link', async () => {
  const { url } = await fileAt('/kept.txt')
  service.service.faults.inject({ kind: 'expired-url' }, { times: 1 })
  expect((await errorOf(await fetch(url))).status).toBe(403)
  expect((await fetch(url)).status).toBe(200)
})

test.each([true, false])('page answers with HTML in place of a document (isSized: %s)', async (isSized) => {
  const { url } = await fileAt('/kept.txt')
  service.service.faults.inject({ kind: 'page', body: '<html>', isSized }, { endpoint: 'download', times: 1 })
  const answer = await fetch(url)
  expect([answer.status, answer.headers.get('content-length')]).toEqual([200, isSized ? '6' : null])
  expect([answer.headers.get('etag'), await answer.text()]).toEqual([null, '<html>'])
  expect(await (await fetch(url)).text()).toBe('the content of a document')
})

test('ignore-range answers 200 and everything, and counts only where there is a Range', async () => {
  const { url } = await fileAt('/kept.txt')
  service.service.faults.inject({ kind: 'ignore-range' }, { times: 1 })
  expect((await fetch(url)).status).toBe(200)
  const answer = await fetch(url, { headers: { range: 'bytes=4-6' } })
  expect([answer.status, await answer.text()]).toEqual([200, 'the content of a document'])
  expect((await fetch(url, { headers: { range: 'bytes=4-6' } })).status).toBe(206)
})

test('omit-fields leaves fields out of files, wherever they are', async () => {
  service.service.faults.inject({ kind: 'omit-fields', fields: ['size', 'url'] })
  expect(Object.keys(await fileAt('/kept.txt')).sort()).toEqual(['ftype', 'mimetype', 'modified_at', 'name'])
  const made = await service.put('/omitted.txt', 'x')
  expect([made.status, Object.keys((await made.json()) as object)]).toEqual([
    201,
    ['ftype', 'name', 'mimetype', 'modified_at'],
  ])
  const folder = (await (await service.get('/')).json()) as { entries: object[] }
  expect(folder.entries.length).toBeGreaterThan(0)
  for (const entry of folder.entries) expect(entry).not.toHaveProperty('size')
})

test('refuse-uri answers 400 to uploads by uri only', async () => {
  service.service.faults.inject({ kind: 'refuse-uri' })
  const { url } = await fileAt('/kept.txt')
  const body = JSON.stringify({ ...documentOf(''), file_type: 'uri', file: url })
  const headers = { 'content-type': 'application/json' }
  expect((await errorOf(await service.call('PUT', files('/by-uri.txt'), { body, headers }))).status).toBe(400)
  expect((await service.put('/by-bytes.txt', 'x')).status).toBe(201)
})

test('stale-listing answers as it was: what came since is missing, what went since is there', async () => {
  await service.put('/stale/old.txt', 'old')
  await service.put('/stale/replaced.txt', 'one')
  await service.put('/stale/folder/inside.txt', 'x')
  await sleep(60)
  const asOf = Date.now()
  await sleep(20)
  await service.delete('/stale/old.txt')
  await service.put('/stale/new.txt', 'new')
  await service.delete('/stale/replaced.txt')
  await service.put('/stale/replaced.txt', 'three')
  await service.delete('/stale/folder')
  expect(await namesIn('/stale')).toEqual(['new.txt', 'replaced.txt'])

  const stale = (): void => {
    service.service.faults.inject({ kind: 'stale-listing', asOf }, { times: 1 })
  }
  stale()
  const { entries } = (await (await service.get('/stale')).json()) as {
    entries: (FileAnswer & { size: number })[]
  }
  expect(entries.map(({ name, size }) => [name, size])).toEqual([
    ['folder', undefined],
    ['old.txt', 3],
    ['replaced.txt', 3],
  ])
  expect((await fetch(entries[1]!.url)).status).toBe(404)
  stale()
  expect(await namesIn('/stale/folder')).toEqual(['inside.txt'])
  stale()
  expect((await service.get('/stale/new.txt')).status).toBe(200)
  expect(await namesIn('/stale')).toEqual(['folder', 'old.txt', 'replaced.txt'])
  expect(await namesIn('/stale')).toEqual(['new.txt', 'replaced.txt'])
})

test('calls are noted in order, with the path of the document and the range, and the status once answered', async () => {
  const { url } = await fileAt('/kept.txt')
  await (await fetch(url, { headers: { range: 'bytes=0-3' } })).text()
  await service.delete('nothing')
  await service.call('GET', '/projects')
  await service.call('GET', '/projects/acme/files?path=/a//b')
  await service.call('GET', '/openapi.json')
  await expect.poll(() => service.service.calls.at(-1)?.status).toBe(400)
  expect(service.service.calls).toEqual([
    { endpoint: 'files', method: 'GET', path: '/kept.txt', range: undefined, status: 200 },
    { endpoint: 'download', method: 'GET', path: '/kept.txt', range: 'bytes=0-3', status: 206 },
    { endpoint: 'files', method: 'DELETE', path: '/nothing', range: undefined, status: 404 },
    { endpoint: 'projects', method: 'GET', path: '/api/projects', range: undefined, status: 200 },
    { endpoint: 'files', method: 'GET', path: '/a//b', range: undefined, status: 400 },
  ])
  expect(JSON.stringify(service.service.calls)).not.toContain('signature')
  service.service.clearCalls()
  expect(service.service.calls).toEqual([])
})
