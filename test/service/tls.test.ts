// TLS by the service itself. The certificates beside this file are for first.example and second.example, both for localhost.

import { execFile } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { appendFile, copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:https'
import { type AddressInfo, connect as connectPlain } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { silentLog } from '../../src/log.ts'
import { openSocketsOf } from '../../src/service/edge/open-sockets.ts'
import { StartError } from '../../src/service/index.ts'
import { type TestService, files, startTestService } from './support.ts'

const fixture = (name: string): string => new URL(`tls/${name}`, import.meta.url).pathname

let folder: string
let tls: { cert: string; key: string }
let service: TestService | undefined

async function install(name: string): Promise<void> {
  await copyFile(fixture(`${name}.crt`), tls.cert)
  await copyFile(fixture(`${name}.key`), tls.key)
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'docmount-tls-'))
  tls = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
  await install('first')
})
afterEach(async () => {
  await service?.close()
  service = undefined
  await rm(folder, { recursive: true, force: true })
})

/** The certificates here are of an elliptic curve. */
function keyOfAnotherKind(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
}

/** The name in the certificate that is shown. */
async function nameShown(): Promise<string> {
  const socket = connect({ port: service!.service.port, host: '127.0.0.1', rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const { subject } = socket.getPeerCertificate()
  socket.destroy()
  return String(subject.CN)
}

async function get(path: string, host: string): Promise<string> {
  const ca = await readFile(fixture('first.crt'))
  return new Promise((resolve, reject) => {
    const headers = { host, 'x-api-key': service!.key }
    const { port } = service!.service
    const call = request(
      { port, host: '127.0.0.1', servername: 'localhost', path: `/api${path}`, headers, ca },
      (answer) => {
        let text = ''
        answer.on('data', (chunk: Buffer) => (text += chunk.toString()))
        answer.on('end', () => resolve(text))
      },
    )
    call.on('error', reject)
    call.end()
  })
}

test('who has begun to speak TLS and no more does not keep the service from ending', async () => {
  const [cert, key] = [await readFile(fixture('first.crt')), await readFile(fixture('first.key'))]
  // Here nobody is cut off for taking too long.
  const server = createServer({ cert, key, handshakeTimeout: 2 ** 31 - 1 }).listen(0, '127.0.0.1')
  const sockets = openSocketsOf(server)
  await once(server, 'listening')
  const arrived = once(server, 'connection')
  const { port } = server.address() as AddressInfo
  const begun = connectPlain({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => undefined)
  begun.write(Buffer.from([0x16, 3, 1, 2, 0, 1]))
  await arrived
  const ended = once(server, 'close')
  server.close()
  sockets.destroyAll()
  await ended
  begun.destroy()
})

describe('with a certificate', () => {
  test('the service speaks TLS, and links begin with https and a name of the certificate', async () => {
    service = await startTestService({ tls })
    expect(service.service.baseUrl).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/api$/)
    const project = JSON.parse(await get('/projects', 'first.example')) as { name: string }[]
    expect(project[0]?.name).toBe('acme')
    const put = JSON.stringify({ mimetype: 'text/plain', filename: 'a', file_type: 'binary', file: 'QQ==' })
    const ca = await readFile(fixture('first.crt'))
    const call = request({
      method: 'PUT',
      port: service.service.port,
      host: '127.0.0.1',
      servername: 'localhost',
      path: `/api${files('/a.txt')}`,
      headers: { 'x-api-key': service.key, 'content-type': 'application/json' },
      ca,
    })
    call.end(put)
    const [answer] = (await once(call, 'response')) as [{ statusCode: number; resume(): void }]
    answer.resume()
    expect(answer.statusCode).toBe(201)
    const originFor = async (host: string): Promise<string> =>
      new URL((JSON.parse(await get(files('/a.txt'), host)) as { url: string }).url).origin
    expect(await originFor('first.example:8443')).toBe('https://first.example:8443')
    expect(await originFor('second.example')).toBe(`https://127.0.0.1:${service.service.port}`)
  })

  test('a renewed one is shown to the next connection, at once where asked to look', async () => {
    service = await startTestService({ tls })
    expect(await nameShown()).toBe('first.example')
    await install('second')
    service.service.reload()
    expect(await nameShown()).toBe('second.example')
  })

  test('a renewed one is found without being asked', async () => {
    service = await startTestService({ tls })
    await install('second')
    await expect.poll(nameShown, { interval: 500 }).toBe('second.example')
  })

  test('is read again where only what follows it in its file has changed', async () => {
    service = await startTestService({ tls })
    const shown = async (): Promise<number> => {
      const { port } = service!.service
      const asking = promisify(execFile)('openssl', [
        's_client',
        '-showcerts',
        '-connect',
        `127.0.0.1:${port}`,
      ])
      asking.child.stdin?.end()
      return (await asking).stdout.split('BEGIN CERTIFICATE').length - 1
    }
    // The second time it is shown as the server's own.
    const before = await shown()
    await appendFile(tls.cert, await readFile(fixture('second.crt')))
    service.service.reload()
    expect(await shown()).toBe(before + 1)
  })

  test('half a renewal changes nothing, and the log says so', async () => {
    const errors: string[] = []
    const log = { ...silentLog, error: (_: object, message: string) => void errors.push(message) }
    service = await startTestService({ tls, log })
    await copyFile(fixture('second.crt'), tls.cert)
    service.service.reload()
    expect(await nameShown()).toBe('first.example')
    await writeFile(tls.cert, 'nothing')
    service.service.reload()
    await rm(tls.key)
    service.service.reload()
    expect(await nameShown()).toBe('first.example')
    expect(errors).toEqual(Array(3).fill('the certificate could not be read again; the old one stays in use'))
  })

  test('half a renewal with a key of another kind changes nothing either', async () => {
    service = await startTestService({ tls })
    await writeFile(tls.key, keyOfAnotherKind())
    service.service.reload()
    expect(await nameShown()).toBe('first.example')
  })

  test('a pipe in its place, or in the key’s, keeps neither the start nor a running service waiting', async () => {
    service = await startTestService({ tls })
    for (const file of [tls.cert, tls.key]) {
      await rm(file)
      await promisify(execFile)('mkfifo', [file])
      service.service.reload()
      expect(await nameShown()).toBe('first.example')
      const error: unknown = await startTestService({ tls }).catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(StartError)
      expect((error as Error).message).toContain(`${file} is a pipe or a device`)
      await rm(file)
      await install('first')
    }
  })

  test.each([
    ['', () => readFile(fixture('second.key'))],
    [', which is of another kind,', keyOfAnotherKind],
  ])('that does not belong to the key%s the service does not start', async (_, key) => {
    await writeFile(tls.key, await key())
    const error: unknown = await startTestService({ tls }).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(StartError)
    expect((error as Error).message).toContain('are no certificate and its key')
  })
})
