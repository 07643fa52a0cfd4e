// Who has no key costs nothing that lasts.

import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CompiledCommand, compileCommand } from './compiled-command.ts'
import { startTestService } from './support.ts'

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

test('a service that no test asked for it keeps no calls and has no faults', async () => {
  const service = await startTestService({ faults: false })
  await service.get('/')
  expect(() => service.service.calls).toThrow('faults: true')
  expect(() => service.service.faults).toThrow('faults: true')
  await service.close()
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
