// Requests without a key cost nothing that lasts.

import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CompiledCommand, compileCommand } from './compiled-command.ts'
import { documentOf, files, startTestService } from './support.ts'

let command: CompiledCommand

beforeAll(async () => {
  command = await compileCommand()
})
afterAll(() => command.remove())

const connections = 4
const requestsEach = 1_500
const pathBytes = 15_000

/** Requests without a key, one after the other on one connection; answers how many were refused with 401. */
async function sendRefused(port: number): Promise<number> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  let refused = 0
  let text = ''
  socket.setEncoding('latin1')
  for (let sent = 0; sent < requestsEach; sent++) {
    const path = String(sent).padEnd(pathBytes, 'x')
    socket.write(`GET /api/projects/acme/files?path=${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
    while (!text.includes('}')) text += ((await once(socket, 'data')) as [string])[0]
    if (text.startsWith('HTTP/1.1 401')) refused++
    text = ''
  }
  socket.destroy()
  return refused
}

test('refused requests leave nothing behind: their paths would fill the memory there is and more', async () => {
  const service = await command.serveWith(
    { environment: { NODE_OPTIONS: '--max-old-space-size=64' } },
    '--data',
    `${command.folder}/refused`,
    '--project',
    'acme',
  )
  const port = Number(new URL(service.announcement.base_url).port)
  const refused = await Promise.all(Array.from({ length: connections }, () => sendRefused(port)))
  expect(refused).toEqual(Array.from({ length: connections }, () => requestsEach))
  expect(await service.end('SIGTERM')).toBe(0)
})

test.each([
  ['POST', '/api/nothing'],
  ['POST', '/api/health'],
  ['POST', '/nothing'],
])(
  '%s %s is refused before its body came: nobody without a key keeps a body in memory',
  async (method, path) => {
    const service = await startTestService()
    const socket = connect(service.service.port, '127.0.0.1')
    socket.write(
      `${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 4000000\r\n\r\n{`,
    )
    const [answer] = (await once(socket, 'data')) as [Buffer]
    expect(answer.toString('latin1')).toMatch(/^HTTP\/1\.1 40[45] /)
    socket.destroy()
    await service.close()
  },
)

describe('a sender that waits to be asked for its body (Expect: 100-continue)', () => {
  const upload = `PUT /api${files('/new.txt')}`
  const tables = 'POST /api/projects/acme/tables'
  const json = 'Content-Type: application/json\r\n'
  /** Everything said on the connection until it is closed: the final answer, and whatever came before. */
  const answerTo = async (
    port: number,
    line: string,
    headers: string,
    length: number | 'chunked',
  ): Promise<string> => {
    const socket = connect(port, '127.0.0.1')
    let answer = ''
    socket.setEncoding('latin1').on('data', (text: string) => (answer += text))
    const closed = once(socket, 'close')
    const body = length === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`
    socket.write(`${line} HTTP/1.1\r\nHost: x\r\n${headers}${body}\r\nExpect: 100-continue\r\n\r\n`)
    await closed
    return answer
  }
  test.each([
    ['without a key', 401, upload, json, 1_000],
    ['with a wrong key', 401, tables, `X-API-Key: wrong\r\n${json}`, 1_000],
    ['for nothing there is', 404, 'POST /api/nothing', json, 1_000],
    ['with a method that is not taken', 405, 'POST /api/health', json, 1_000],
    ['with more than is taken', 413, tables, `KEY${json}`, 5_000_000],
    ['in an encoding', 415, upload, `KEY${json}Content-Encoding: gzip\r\n`, 1_000],
    ['of a type that is not taken', 415, tables, 'KEYContent-Type: text/csv\r\n', 1_000],
    ['where something is', 409, `PUT /api${files('/old.txt')}`, `KEY${json}`, 100_000],
    ['where something is, without its length', 409, `PUT /api${files('/old.txt')}`, `KEY${json}`, 'chunked'],
  ] as const)('%s is answered %s, and not asked for it', async (_, status, line, headers, length) => {
    const service = await startTestService()
    await service.put('/old.txt', 'x')
    const given = headers.replace('KEY', `X-API-Key: ${service.key}\r\n`)
    const answer = await answerTo(service.service.port, line, given, length)
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    // Without that, the next request on the connection would be taken for the body.
    expect(answer.toLowerCase()).toContain('connection: close')
    await service.close()
  })

  test('while another one is on its way, where a key may have only one, is answered 429, and not asked for it', async () => {
    const service = await startTestService({ limits: { requestsUnderWayPerKey: 1 } })
    const headers = `X-API-Key: ${service.key}\r\n${json}`
    const first = connect(service.service.port, '127.0.0.1')
    first.write(
      `${upload} HTTP/1.1\r\nHost: x\r\n${headers}Content-Length: 1000\r\nExpect: 100-continue\r\n\r\n`,
    )
    await once(first, 'data')
    expect(await answerTo(service.service.port, upload, headers, 1_000)).toMatch(/^HTTP\/1.1 429 /)
    first.destroy()
    await service.close()
  })

  test('is asked once where it is taken, and the connection goes on', async () => {
    const service = await startTestService()
    const socket = connect(service.service.port, '127.0.0.1')
    let answers = ''
    socket.setEncoding('latin1').on('data', (text: string) => (answers += text))
    const head = (line: string, body: string): string =>
      `${line} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${service.key}\r\n${json}Content-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`
    const bodies: [line: string, body: string][] = [
      [upload, JSON.stringify(documentOf('content'))],
      [tables, JSON.stringify({ name: 'a' })],
    ]
    let asked = 0
    for (const [line, body] of bodies) {
      socket.write(head(line, body))
      asked++
      await expect.poll(() => answers.split('HTTP/1.1 100 Continue').length - 1).toBe(asked)
      socket.write(body)
      await expect.poll(() => answers.match(/HTTP\/1.1 20\d /g)?.length).toBe(asked)
    }
    expect(answers.match(/HTTP\/1.1 \d+/g)).toEqual([
      'HTTP/1.1 100',
      'HTTP/1.1 201',
      'HTTP/1.1 100',
      expect.stringMatching(/20\d$/),
    ])
    socket.destroy()
    await service.close()
  })

  test('and sends it all the same is answered as everybody is', async () => {
    const service = await startTestService()
    const socket = connect(service.service.port, '127.0.0.1')
    let answers = ''
    socket.setEncoding('latin1').on('data', (text: string) => (answers += text))
    const body = JSON.stringify(documentOf('content'))
    socket.write(
      `${upload} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${service.key}\r\n${json}Content-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n${body}`,
    )
    await expect.poll(() => answers).toContain('HTTP/1.1 201')
    socket.destroy()
    await service.close()
  })
})
