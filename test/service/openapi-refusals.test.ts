// Refusals that any request may meet for its time, its size or its host, and the answers of downloads: each as the
// OpenAPI document says.

import { once } from 'node:events'
import { type Socket, connect } from 'node:net'
import { Check } from 'typebox/schema'
import { afterEach, expect, test } from 'vitest'
import type { ServiceOptions } from '../../src/service/index.ts'
import { inFull } from '../contract/witness.ts'
import { type OpenApi, expectHeaders } from './openapi-document.ts'
import { type TestService, documentOf, files, startTestService } from './support.ts'

let service: TestService
let document: OpenApi
afterEach(() => service.close())

async function start(options: Partial<ServiceOptions> = {}): Promise<void> {
  service = await startTestService(options)
  const raw = (await (await service.call('GET', '/openapi.json')).json()) as OpenApi
  document = inFull(raw, raw) as OpenApi
}

/** Expects that the document describes this answer of the operation, with its headers and its body. */
async function expectDescribed(operationId: string, status: number, response: Response): Promise<void> {
  const text = await response.text()
  expect(response.status, text).toBe(status)
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
  const described = operations.find((one) => one.operationId === operationId)?.responses[status]
  expect(described, `${operationId}: ${status}`).toBeDefined()
  expectHeaders(response.headers, described?.headers ?? {})
  const schema = described?.content?.['application/json']?.schema
  if (schema !== undefined) expect(Check(schema, JSON.parse(text)), text).toBe(true)
}

const operation = files('/slow.txt')
/** A connection on which this much of a request is sent. */
async function begun(head: string, body = ''): Promise<Socket> {
  const socket = connect(service.service.port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write(`${head} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${service.key}\r\n${body}`)
  return socket
}

/** All that comes until the other side ends it. */
async function answerOn(socket: Socket): Promise<Response> {
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  await once(socket, 'close')
  const [head = '', body = ''] = text.split('\r\n\r\n')
  const [line = '', ...headers] = head.split('\r\n')
  const pairs = headers.map((header): [string, string] => {
    const [name = '', ...value] = header.split(': ')
    return [name, value.join(': ')]
  })
  return new Response(body, { status: Number(line.split(' ')[1]), headers: pairs })
}

const json = { 'content-type': 'application/json' }
const longBody = 'Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{'

test('a body that hardly comes is 408', async () => {
  await start({ limits: { bodyPeriodMs: 50 } })
  await expectDescribed('putFile', 408, await answerOn(await begun(`PUT /api${operation}`, longBody)))
})

test('a body beyond a limit is 413', async () => {
  await start({ limits: { documentBytes: 10, jsonBytes: 100 } })
  await expectDescribed('putFile', 413, await service.put('/a.txt', 'x'.repeat(11)))
  const body = JSON.stringify({ name: 'x'.repeat(100) })
  const answer = await service.call('POST', '/projects/acme/tables', { body, headers: json })
  await expectDescribed('createTable', 413, answer)
})

test('a body of another type is 415', async () => {
  await start()
  const answer = await service.call('POST', '/projects/acme/tables', {
    body: '<a/>',
    headers: { 'content-type': 'application/xml' },
  })
  await expectDescribed('createTable', 415, answer)
})

test('more requests than a key may make are 429', async () => {
  await start({ limits: { requestsPerSecondPerKey: 1 } })
  let answer = await service.get('/')
  while (answer.status === 200) answer = await service.get('/')
  await expectDescribed('getFile', 429, answer)
})

test('headers beyond their limit are 431', async () => {
  await start()
  const socket = await begun('GET /api/projects', `X-Long: ${'x'.repeat(20_000)}\r\n\r\n`)
  await expectDescribed('listProjects', 431, await answerOn(socket))
})

test('what comes while the service is about to end is 503', async () => {
  await start({ drainMs: 60_000 })
  const underWay = await begun(`PUT /api${operation}`, longBody)
  const newcomer = await begun('GET /api/projects', 'X-Wait: ')
  // An answer to the third says that the first two are known.
  await service.get('/')
  const closing = service.service.close()
  newcomer.write('over\r\n\r\n')
  await expectDescribed('listProjects', 503, await answerOn(newcomer))
  underWay.destroy()
  await closing
})

test('a document beyond what the project may hold is 507', async () => {
  await start({ limits: { projectDocuments: 1 } })
  await service.put('/a.txt', 'x')
  await expectDescribed('putFile', 507, await service.put('/b.txt', 'x'))
  const body = JSON.stringify({ name: 'n', document: documentOf('x') })
  const answer = await service.call('POST', '/projects/acme/tables/storage', { body, headers: json })
  await expectDescribed('createStorageTable', 507, answer)
})

test('a download is whole, a range, nothing new, none of it, forged or gone', async () => {
  await start()
  const { url } = (await (await service.put('/a.txt', 'content')).json()) as { url: string }
  const ask = (headers: Record<string, string>, at = url): Promise<Response> => fetch(at, { headers })
  const whole = await ask({})
  const etag = whole.headers.get('etag') ?? ''
  await expectDescribed('download', 200, whole)
  await expectDescribed('download', 206, await ask({ range: 'bytes=0-2' }))
  await expectDescribed('download', 304, await ask({ 'if-none-match': etag }))
  await expectDescribed('download', 416, await ask({ range: 'bytes=7-' }))
  await expectDescribed('download', 403, await ask({}, url.replace(/signature=./, 'signature=')))
  await expectDescribed('download', 400, await ask({}, url.replace(/\?.*/, '')))
  await service.delete('/a.txt')
  await expectDescribed('download', 404, await ask({}))
})
