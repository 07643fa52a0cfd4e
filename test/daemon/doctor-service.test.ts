// `docmount doctor`: what it finds out about a service.

import { expect, test } from 'vitest'
import type { Check } from '../../src/daemon/doctor.ts'
import { checkService } from '../../src/daemon/doctor-service.ts'
import { answerJson, startRawServer, type RawHandler } from '../support/raw-server.ts'

/** Checks of a service with one document, whose download is answered by `download`. */
async function checksOf(download: RawHandler): Promise<readonly Check[]> {
  await using server = await startRawServer((request, response, count) => {
    const { pathname } = new URL(request.url ?? '', server.origin)
    const entry = { ftype: 'file', name: 'a.txt', size: 10, url: `${server.origin}/first` }
    if (pathname === '/api/projects') answerJson(response, 200, [{ id: 'the-id', name: 'acme' }])
    else if (pathname === '/api/projects/acme/files')
      answerJson(response, 200, { ftype: 'folder', name: '', entries: [entry] })
    else download(request, response, count)
  })
  return await checkService(`${server.origin}/api`, { key: 'the-key' }, 'acme')
}

test('a download is followed through redirects of each kind', async () => {
  const checks = await checksOf(({ url }, response) => {
    if (url === '/first') response.writeHead(302, { location: '/second' }).end()
    else if (url === '/second') response.writeHead(307, { location: '/third' }).end()
    else response.writeHead(206, { 'content-range': 'bytes 0-0/10', 'content-length': 1 }).end('a')
  })
  expect(checks).toContainEqual({ name: 'Range', result: 'good', finding: 'downloads honour it' })
})

test('a storage that does not answer is no fault of the key', async () => {
  const checks = await checksOf((request) => request.socket.destroy())
  expect(checks).toContainEqual({ name: 'API key', result: 'good', finding: 'is accepted; it sees acme' })
  expect(checks.filter(({ result }) => result === 'problem')).toMatchObject([{ name: 'Range' }])
  // The address may hold a signature.
  expect(JSON.stringify(checks)).not.toContain('/first')
})
