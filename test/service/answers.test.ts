// Headers that every answer carries, and the answers to requests that are hardly HTTP.

import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestService, errorOf, files, startTestService } from './support.ts'

let service: TestService

beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())

/** Everything answered to these raw bytes. */
async function rawAnswer(text: string): Promise<string> {
  const socket = connect(service.service.port, '127.0.0.1')
  // Not ended: a body that is announced, and can be seen not to come, is another answer.
  socket.write(text)
  let answer = ''
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString()))
  await once(socket, 'close')
  return answer
}

async function downloadOf(name: string): Promise<Response> {
  await service.put(`/named/${name}`, 'x')
  const { url } = (await (await service.get(`/named/${name}`)).json()) as { url: string }
  return fetch(url)
}

describe('an answer', () => {
  test('of the API is nothing to keep and nothing to guess a type from', async () => {
    for (const path of ['/projects', files('/'), files('/nothing'), '/nowhere']) {
      const { headers } = await service.call('GET', path)
      expect(Object.fromEntries(headers)).toMatchObject({
        'cache-control': 'private, no-store',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
      })
    }
  })

  test('of a download may be shown by pages of others, who are told no link', async () => {
    const { headers } = await downloadOf('shown.png')
    expect(Object.fromEntries(headers)).toMatchObject({
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'cross-origin',
    })
  })

  test('to a method an address does not know is 405, and Allow names those it does', async () => {
    for (const [method, path, allow] of [
      ['PATCH', files('/a'), 'DELETE, GET, HEAD, PUT'],
      ['POST', '/projects', 'GET, HEAD'],
      ['PUT', '/projects/acme/tables/storage', 'POST'],
      ['DELETE', '/download/x?expires=1&signature=2', 'GET, HEAD'],
    ] as const) {
      const answer = await service.call(method, path)
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow])
      expect((await errorOf(answer)).message).toContain(method)
    }
  })

  test('to more than 16 KiB of headers is 431', async () => {
    const answer = await rawAnswer(
      `GET /api/projects HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 431 Request Header Fields Too Large\r\n/)
    expect(answer).toContain('"errorMessage":"the headers')
  })

  test.each([
    ['no Host', 400, 'GET /api/health HTTP/1.1\r\n', 'one Host header, not 0'],
    ['two of them', 400, 'GET /api/health HTTP/1.1\r\nHost: a\r\nHost: b\r\n', 'one Host header, not 2'],
    ['a method for proxies', 405, 'CONNECT inside:80 HTTP/1.1\r\nHost: x\r\n', 'CONNECT is for proxies'],
    [
      'an expectation of its own',
      417,
      'GET /api/health HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\n',
      '100-continue',
    ],
    ['another version', 505, 'GET /api/health HTTP/2.0\r\nHost: x\r\n', 'HTTP/2.0 is not spoken here'],
    [
      'a coding nobody undoes',
      501,
      'PUT /api/x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n',
      'only chunked',
    ],
    [
      'chunks before there were any',
      400,
      'PUT /api/x HTTP/1.0\r\nTransfer-Encoding: chunked\r\n',
      'no Transfer-Encoding',
    ],
    [
      'a body in another form',
      415,
      'PUT /api/x HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\n',
      'encoded with gzip',
    ],
  ])('to %s is an Error body with status %i', async (_, status, head, words) => {
    const [headers, body] = (await rawAnswer(`${head}Connection: close\r\n\r\n`)).split('\r\n\r\n')
    expect(headers).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    expect(body).toContain('{"errorMessage":"')
    expect(body).toContain(words)
  })

  test('looks at the length of the body, however many headers are in front of it', async () => {
    const many = 'a:b\r\n'.repeat(2_500)
    const head = `POST /api/projects/acme/tables HTTP/1.1\r\nHost: x\r\nX-API-Key: ${service.key}\r\n`
    const rest = `Content-Type: application/json\r\nConnection: close\r\nContent-Length: ${2 ** 30}\r\n\r\n`
    expect(await rawAnswer(head + many + rest)).toMatch(/^HTTP\/1\.1 413 /)
  })

  test('to what is no HTTP is 400', async () => {
    expect(await rawAnswer('hello\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n[^]*"errorMessage"/)
  })
})

test('GET /docs shows every request on a page that loads nothing from anywhere', async () => {
  const answer = await fetch(`${service.service.baseUrl}/docs`)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/)
  const page = await answer.text()
  for (const words of [
    'PUT /api/projects/{project_name}/files',
    'POST /api/projects/{project_name}/tables/{table_id}/forward',
    'X-API-Key',
    'errorMessage',
  ])
    expect(page).toContain(words)
  expect(page.match(/(?:src|href)="[^"#]*"/g)).toEqual(['href="openapi.json"'])
  expect(page).not.toMatch(/<script|url\(|@import/)
})

describe('a download', () => {
  test.each([
    ['report.pdf', 'inline; filename=report.pdf'],
    ['a "quoted" name.txt', String.raw`inline; filename="a \"quoted\" name.txt"`],
    [
      'Prüfbericht €.txt',
      `inline; filename="Pr?fbericht ?.txt"; filename*=utf-8''Pr%C3%BCfbericht%20%E2%82%AC.txt`,
    ],
    ['line\r\nbreak: x.txt', undefined],
  ])('is saved under the name of its document: %j', async (name, header) => {
    const answer = await downloadOf(name)
    const disposition = answer.headers.get('content-disposition')!
    if (header !== undefined) expect(disposition.toLowerCase()).toBe(header.toLowerCase())
    expect(disposition).toContain('filename')
    expect(answer.headers.get('break')).toBeNull()
  })

  test('is for its reader only, and no type is guessed', async () => {
    const { headers } = await downloadOf('private.txt')
    expect(headers.get('cache-control')).toMatch(/^private\b/)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  })
})
