// Updates reach every open page automatically.

import { once } from 'node:events'
import { createServer, get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { Live } from '../../src/ui/live.ts'
import { waitUntil } from '../support/wait-until.ts'

async function listenTo(live: Live): Promise<{ response: IncomingMessage; end: () => void }> {
  const server = createServer((_request, response) => live.add(response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const request = get(`http://127.0.0.1:${port}/`)
  request.on('error', () => {})
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  response.on('error', () => {})
  return {
    response,
    end() {
      request.destroy()
      server.close()
    },
  }
}

test('what is news is told, and nothing is looked at when nobody listens', async () => {
  let looks = 0
  const { response, end } = await listenTo(new Live(async () => `look ${looks++ < 2 ? 1 : 2}`))
  let told = ''
  response.on('data', (chunk: Buffer) => (told += chunk.toString()))
  await waitUntil('news', () => told.includes('"look 2"'))
  expect(told.match(/"look 1"/g)).toHaveLength(1)
  end()
  await waitUntil('the page to be missed', () => noMoreLooks(() => looks))
})

test('a page that takes nothing is cut off', async () => {
  let looks = 0
  const { response, end } = await listenTo(new Live(async () => `${looks++}`.repeat(6_000_000)))
  response.pause()
  await waitUntil('it to be cut', () => noMoreLooks(() => looks))
  end()
})

/** True where no look came for longer than there is between two. */
async function noMoreLooks(looks: () => number): Promise<boolean> {
  const before = looks()
  await new Promise((later) => setTimeout(later, 2_500))
  return looks() === before
}
