// The client against the reference service, its faults included: what holds for any service of this interface.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../../src/api/client.ts'
import type { Client } from '../../src/api/client.ts'
import { isOutcomeUnknown } from '../../src/api/errors.ts'
import type { Files, RemoteFile } from '../../src/api/types.ts'
import type { TestService } from '../support/service.ts'
import { project, startTestService } from '../support/service.ts'
import { collect, contentOf, rejection, uploadOf } from './client-support.ts'

let server: TestService
let client: Client
let files: Files

beforeAll(async () => {
  server = await startTestService()
  client = createClient({ baseUrl: server.baseUrl, apiKey: server.apiKey })
  files = client.files(project)
})

afterEach(() => {
  server.service.faults.clear()
  server.service.clearCalls()
})

afterAll(async () => {
  await client.close()
  await server.close()
})

const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, index) => (index * 7) % 253))

async function put(path: string, content: Uint8Array = bytes): Promise<RemoteFile> {
  return await files.upload(path, uploadOf(contentOf([content])))
}

async function read(path: string, offset: number, length: number): Promise<Buffer> {
  const record = await files.get(path)
  if (record.kind !== 'file' || record.url === undefined) throw new Error(`${path} has no URL`)
  const download = await files.download(record.url, path, { offset, length })
  return await collect(download.chunks)
}

function statusesOf(method: string): (number | undefined)[] {
  return server.service.calls.filter((call) => call.method === method).map(({ status }) => status)
}

describe('the files of a project', () => {
  test('are uploaded, listed, resolved, read by range and deleted', async () => {
    const uploaded = await put('/round/träg %&?#+.txt')
    expect(uploaded).toMatchObject({ kind: 'file', size: bytes.length, mimetype: 'text/plain' })
    expect(await files.get('/round')).toMatchObject({
      kind: 'folder',
      entries: [{ kind: 'file', name: 'träg %&?#+.txt', size: bytes.length }],
    })
    expect(await files.get('/')).toMatchObject({
      kind: 'folder',
      entries: [{ kind: 'folder', name: 'round' }],
    })
    expect(await read('/round/träg %&?#+.txt', 0, bytes.length)).toEqual(bytes)
    expect(await read('/round/träg %&?#+.txt', 1000, 10)).toEqual(bytes.subarray(1000, 1010))
    expect(await read('/round/träg %&?#+.txt', 99_990, 1000)).toEqual(bytes.subarray(99_990))
    expect(await read('/round/träg %&?#+.txt', 100_000, 10)).toHaveLength(0)
    await files.delete('/round')
    expect(await files.get('/')).toMatchObject({ entries: [] })
  })

  test('are made from a URL of the service itself', async () => {
    const { url } = (await put('/uri/a.txt')) as { url: string }
    const copy = await files.upload('/uri/b.txt', uploadOf({ kind: 'uri', url }))
    expect(copy.size).toBe(bytes.length)
    expect(await read('/uri/b.txt', 0, bytes.length)).toEqual(bytes)
  })

  test('are never overwritten: a large upload onto one is refused early', async () => {
    await put('/early/a.txt')
    const piece = Buffer.alloc(64 * 1024)
    const content = contentOf(Array.from({ length: 1600 }, () => piece))
    const error = await rejection(files.upload('/early/a.txt', uploadOf(content)))
    expect(error).toMatchObject({ status: 409, method: 'PUT', path: '/early/a.txt' })
    expect(content.watch.given).toBeLessThan(content.size / 2)
    expect(await read('/early/a.txt', 0, bytes.length)).toEqual(bytes)
  })

  test('with a wrong key are refused', async () => {
    const stranger = createClient({ baseUrl: server.baseUrl, apiKey: 'wrong' })
    expect(await rejection(stranger.files(project).get('/'))).toMatchObject({ status: 401 })
    await stranger.close()
  })
})

describe('under faults', () => {
  test('a get is repeated after errors and cut answers', async () => {
    await put('/faults/get.txt')
    server.service.clearCalls()
    const { faults } = server.service
    faults.inject({ kind: 'status', status: 500 }, { method: 'GET', times: 1 })
    expect(await files.get('/faults/get.txt')).toMatchObject({ size: bytes.length })
    faults.inject({ kind: 'cut-response', afterBytes: 20 }, { method: 'GET', times: 1 })
    expect(await files.get('/faults/get.txt')).toMatchObject({ size: bytes.length })
    faults.inject({ kind: 'status', status: 429, retryAfter: 0 }, { method: 'GET', times: 1 })
    expect(await files.get('/faults/get.txt')).toMatchObject({ size: bytes.length })
    expect(faults.hits).toBe(3)
    expect(statusesOf('GET')).toHaveLength(6)
  })

  test('an upload whose answer is lost is made once, and its outcome is unknown', async () => {
    server.service.faults.inject({ kind: 'lost-answer' }, { method: 'PUT', times: 1 })
    const error = await rejection(put('/faults/lost.txt'))
    expect(error).toMatchObject({ kind: 'cut' })
    expect(isOutcomeUnknown(error)).toBe(true)
    expect(statusesOf('PUT')).toHaveLength(1)
    expect(await read('/faults/lost.txt', 0, bytes.length)).toEqual(bytes)
  })

  test('an upload answered with 500 after it was stored is made once, and its outcome is unknown', async () => {
    server.service.faults.inject({ kind: 'error-after-commit' }, { method: 'PUT', times: 1 })
    const error = await rejection(put('/faults/late.txt'))
    expect(error).toMatchObject({ status: 500 })
    expect(isOutcomeUnknown(error)).toBe(true)
    expect(statusesOf('PUT')).toEqual([500])
  })

  test('an upload that is cut on the way is made once, and stores nothing', async () => {
    server.service.faults.inject({ kind: 'cut-request', afterBytes: 5000 }, { method: 'PUT', times: 1 })
    expect(await rejection(put('/faults/cut.txt'))).toMatchObject({ kind: 'cut' })
    expect(statusesOf('PUT')).toHaveLength(1)
    expect(await put('/faults/cut.txt')).toMatchObject({ size: bytes.length })
  })

  test('an upload the service had no time for is made again', async () => {
    server.service.faults.inject({ kind: 'status', status: 429, retryAfter: 0 }, { method: 'PUT', times: 2 })
    expect(await put('/faults/busy.txt')).toMatchObject({ size: bytes.length })
    expect(statusesOf('PUT')).toEqual([429, 429, 201])
  })

  test('an upload shorter than its size stores nothing', async () => {
    const error = await rejection(
      files.upload('/faults/short.txt', uploadOf(contentOf([bytes.subarray(0, 500)], 501))),
    )
    expect(error).toMatchObject({ name: 'ContentError' })
    const folder = await files.get('/faults')
    expect(folder.kind === 'folder' && folder.entries.map(({ name }) => name)).not.toContain('short.txt')
  })

  test('a delete whose answer is lost is done when its repetition finds nothing', async () => {
    await put('/faults/gone.txt')
    server.service.faults.inject({ kind: 'lost-answer' }, { method: 'DELETE', times: 1 })
    await files.delete('/faults/gone.txt')
    expect(statusesOf('DELETE')).toHaveLength(2)
    expect(await rejection(files.delete('/faults/gone.txt'))).toMatchObject({ status: 404 })
  })

  test('a download without ranges gives the range all the same', async () => {
    await put('/faults/range.txt')
    server.service.faults.inject({ kind: 'ignore-range' }, { endpoint: 'download' })
    expect(await read('/faults/range.txt', 70_000, 20)).toEqual(bytes.subarray(70_000, 70_020))
    expect(await read('/faults/range.txt', 99_990, 20)).toEqual(bytes.subarray(99_990))
    expect(await read('/faults/range.txt', 100_000, 20)).toHaveLength(0)
  })

  test('an expired URL is a 403, and a cut download is "cut"', async () => {
    await put('/faults/download.txt')
    server.service.faults.inject({ kind: 'expired-url' }, { endpoint: 'download', times: 1 })
    expect(await rejection(read('/faults/download.txt', 0, 10))).toMatchObject({ status: 403 })
    server.service.faults.inject(
      { kind: 'cut-response', afterBytes: 1000 },
      { endpoint: 'download', times: 1 },
    )
    expect(await rejection(read('/faults/download.txt', 0, bytes.length))).toMatchObject({ kind: 'cut' })
  })

  test('absent optional fields are undefined', async () => {
    await put('/faults/bare.txt')
    server.service.faults.inject({ kind: 'omit-fields', fields: ['size', 'mimetype', 'modified_at', 'url'] })
    expect(await files.get('/faults/bare.txt')).toEqual({
      kind: 'file',
      name: 'bare.txt',
      size: undefined,
      mimetype: undefined,
      modifiedAt: undefined,
      url: undefined,
    })
  })
})
