import { expect, test } from 'vitest'
import { systemNetwork } from '../../src/world/network.ts'
import { startRawServer } from '../support/raw-server.ts'
import { rejection } from './client-support.ts'

// Which errors the transport names is told by their codes, and a DOMException's is a number.
test('a request that is given up fails with the reason it was given up for', async () => {
  await using server = await startRawServer(() => {})
  const transport = systemNetwork.open(1)
  const giveUp = new AbortController()
  const request = transport.callService({
    call: { method: 'GET', path: '/a.txt' },
    method: 'GET',
    origin: server.origin,
    target: '/',
    headers: {},
    signal: giveUp.signal,
  })
  const failed = rejection(request)
  await expect.poll(() => server.requests.length).toBe(1)
  giveUp.abort()
  expect(await failed).toBe(giveUp.signal.reason)
  await transport.close()
})
