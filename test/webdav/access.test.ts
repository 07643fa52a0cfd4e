// Access: by password, under a name of this machine, and never for a web page. State after a broken connection.

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { get } from 'node:https'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { Access } from '../../src/webdav/access.ts'
import { openWebdav, password, user, type OpenedWebdav } from './open-webdav.ts'

let opened: OpenedWebdav

beforeAll(async () => {
  opened = await openWebdav({ given: { '/a.txt': 'a' } })
})
afterAll(() => opened.close())

const md5 = (text: string): string => createHash('md5').update(text).digest('hex')

/** Answer of a client to a challenge. */
function digestOf(challenge: string, secret: string, uri = '/a.txt'): string {
  const nonce = /nonce="([^"]+)"/.exec(challenge)?.[1] ?? ''
  const proof = [md5(`${user}:docmount:${secret}`), nonce, '00000001', 'abc', 'auth', md5(`GET:${uri}`)]
  return `Digest username="${user}", realm="docmount", nonce="${nonce}", uri="${uri}", qop=auth, nc=00000001, cnonce="abc", response="${md5(proof.join(':'))}"`
}

describe('the password', () => {
  it('is needed for everything', async () => {
    for (const method of ['OPTIONS', 'GET', 'PROPFIND', 'PUT', 'DELETE']) {
      const { status, headers } = await opened.ask(method, '/a.txt', { isStranger: true })
      expect({ method, status }).toEqual({ method, status: 401 })
      expect(headers['www-authenticate']).toMatch(/^Digest .*, Basic /)
    }
    const authorization = `Basic ${Buffer.from(`${user}:wrong`).toString('base64')}`
    const refused = await opened.ask('GET', '/a.txt', { headers: { authorization } })
    expect(refused).toMatchObject({
      status: 401,
      text: expect.stringContaining('the user or the password is wrong: docmount status names the file'),
    })
  })

  it('is proven by digest, which Windows wants where there is no TLS', async () => {
    const asked = await opened.ask('GET', '/a.txt', { isStranger: true })
    const challenge = asked.headers['www-authenticate'] ?? ''
    const say = (authorization: string) => opened.ask('GET', '/a.txt', { headers: { authorization } })
    expect(await say(digestOf(challenge, password))).toMatchObject({ status: 200, text: 'a' })
    expect((await say(digestOf(challenge, 'wrong'))).status).toBe(401)
    expect((await say(digestOf(challenge, password, '/other.txt'))).status).toBe(401)
    const foreign = await say(digestOf('nonce="k.AAAA"', password))
    expect(foreign).toMatchObject({
      status: 401,
      headers: { 'www-authenticate': expect.stringContaining('stale=true') },
    })
  })
})

describe('with a certificate', () => {
  it('the door speaks TLS, and asks for Basic alone', async () => {
    const at = (name: string): string => new URL(`../service/tls/first.${name}`, import.meta.url).pathname
    const tls = { cert: await readFile(at('crt'), 'utf8'), key: await readFile(at('key'), 'utf8') }
    await opened.reopen({ tls })
    try {
      const { url } = opened.server
      expect(url).toMatch(/^https:/)
      const say = (authorization: string): Promise<{ status: number; challenge: string; text: string }> =>
        new Promise((resolve, reject) => {
          const asked = get(
            `${url}/a.txt`,
            { headers: { authorization }, rejectUnauthorized: false, agent: false },
            (answer) => {
              let text = ''
              answer.on('data', (chunk: Buffer) => (text += chunk.toString()))
              const challenge = answer.headers['www-authenticate'] ?? ''
              answer.on('end', () => resolve({ status: answer.statusCode ?? 0, challenge, text }))
            },
          )
          asked.on('error', reject)
        })
      const basic = Buffer.from(`${user}:${password}`).toString('base64')
      expect(await say(`Basic ${basic}`)).toMatchObject({ status: 200, text: 'a' })
      const stranger = await say('')
      expect(stranger).toMatchObject({ status: 401, challenge: expect.stringMatching(/^Basic /) })
      expect((await say(digestOf('nonce="x"', password))).status).toBe(401)
    } finally {
      await opened.reopen()
    }
  })
})

describe('the name and the page', () => {
  it('a foreign name is 421, whatever it is said to be', async () => {
    for (const host of ['evil.example', 'evil.example:80', '127.0.0.1.evil.example', '10.0.0.1'])
      expect({ host, ...(await opened.ask('GET', '/a.txt', { headers: { host } })) }).toMatchObject({
        status: 421,
      })
    for (const host of ['localhost:1', '127.0.0.1', '[::1]:2'])
      expect({ host, ...(await opened.ask('GET', '/a.txt', { headers: { host } })) }).toMatchObject({
        status: 200,
      })
  })

  it('a web page is 403, its own machine’s too', async () => {
    for (const headers of [
      { origin: 'http://evil.example' },
      { origin: 'null' },
      { origin: `http://127.0.0.1:${opened.port}` },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ] as const)
      expect((await opened.ask('GET', '/a.txt', { headers })).status).toBe(403)
  })

  it('an address that others reach goes by its numbers, and by the names it is given', () => {
    const options = { user, password, hasTls: true, host: '0.0.0.0', hostNames: ['drive.example'] }
    const access = new Access(options)
    const said = (host: string): string => {
      try {
        access.check({ headers: { host }, method: 'GET', url: '/' } as never)
        return 'in'
      } catch (error) {
        return String((error as { status?: number }).status)
      }
    }
    expect(['192.0.2.1:80', 'drive.example', 'evil.example', 'localhost'].map(said)).toEqual([
      '401',
      '401',
      '421',
      '421',
    ])
  })
})

describe('a connection', () => {
  it('that breaks in the middle of a PUT leaves what was there', async () => {
    const credentials = Buffer.from(`${user}:${password}`).toString('base64')
    for (const path of ['/a.txt', '/never.txt']) {
      const socket = connect(opened.port, '127.0.0.1')
      await once(socket, 'connect')
      const head = `PUT ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic ${credentials}\r\n`
      socket.write(`${head}Content-Length: 1000\r\n\r\nhalf of it`)
      await expect.poll(() => opened.fileSystem.status().openHandles).toBe(1)
      socket.destroy()
      await expect.poll(() => opened.fileSystem.status().openHandles).toBe(0)
    }
    expect((await opened.ask('GET', '/a.txt')).text).toBe('a')
    expect((await opened.ask('GET', '/never.txt')).status).toBe(404)
    expect(opened.fileSystem.status()).toMatchObject({ unsent: [], scratchFiles: 0 })
    expect((await opened.ask('PROPFIND', '/', { headers: { depth: '1' } })).text).not.toContain(
      'goutputstream',
    )
  })

  it('has what comes on it together carried out in its order', async () => {
    const credentials = Buffer.from(`${user}:${password}`).toString('base64')
    const said = (method: string, ...more: string[]): string =>
      [
        `${method} /order.txt HTTP/1.1`,
        'Host: localhost',
        `Authorization: Basic ${credentials}`,
        ...more,
      ].join('\r\n')
    // Without order the GET would be faster.
    const stop = opened.testService.service.faults.inject({ kind: 'latency', ms: 100 }, { method: 'PUT' })
    const socket = connect(opened.port, '127.0.0.1')
    socket.write(
      [
        `${said('PUT', 'Content-Length: 5')}\r\n\r\nfirst`,
        `${said('PUT', 'Content-Length: 6')}\r\n\r\nsecond`,
        `${said('GET')}\r\n\r\n`,
        `${said('DELETE')}\r\n\r\n`,
        `${said('HEAD', 'Connection: close')}\r\n\r\n`,
      ].join(''),
    )
    let answers = ''
    for await (const chunk of socket) answers += String(chunk)
    stop()
    expect(Array.from(answers.matchAll(/HTTP\/1.1 (\d+)/g), ([, status]) => status)).toEqual([
      '201',
      '204',
      '200',
      '204',
      '404',
    ])
    expect(answers).toContain('\r\n\r\nsecondHTTP/1.1 204')
  })

  it('gives every reference back', async () => {
    await opened.ask('PROPFIND', '/', { headers: { depth: '1' } })
    const before = opened.fileSystem.status().knownNodes
    await opened.ask('MKCOL', '/references')
    for (let count = 0; count < 5; count++) {
      await opened.ask('PUT', `/references/${count}.txt`, { body: 'x' })
      await opened.ask('MOVE', `/references/${count}.txt`, {
        headers: { destination: '/references/one.txt' },
      })
      await opened.ask('GET', '/references/one.txt')
    }
    await opened.ask('DELETE', '/references')
    await opened.fileSystem.wait('/', { timeoutMs: 20_000 })
    expect(opened.fileSystem.status()).toMatchObject({ openHandles: 0, unsent: [] })
    expect(opened.fileSystem.status().knownNodes).toBeLessThanOrEqual(before)
  })
})
