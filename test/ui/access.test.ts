// Access to the page of `docmount ui`, and the headers it is served with.

import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { actions } from '../../src/ui/actions.ts'
import { bareHomeIn } from '../support/home.ts'
import { isRoot, makeOrdinaryUser } from '../support/ordinary-user.ts'
import { startPage, type Page } from '../support/page.ts'
import { waitUntil } from '../support/wait-until.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

let temporary: TemporaryFolder
let page: Page
let cookie: string
beforeAll(async () => {
  temporary = await makeTemporaryFolder()
  page = await startPage(bareHomeIn(temporary.path))
  cookie = await page.enter()
})
afterAll(async () => {
  await page?.end()
  await temporary.remove()
})

test('the address is this machine, and its token is left out of the page’s own', async () => {
  expect(page.address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{32}$/)
  const entered = await page.ask(page.address.slice(page.address.indexOf('/?')))
  expect(entered.status).toBe(303)
  expect(entered.headers['location']).toBe('/')
  expect(entered.headers['set-cookie']?.[0]).toMatch(/; HttpOnly; SameSite=Strict; Path=\/$/)
  const { status, text } = await page.ask('/', { headers: { cookie } })
  expect(status).toBe(200)
  expect(text).toContain('<h1>docmount</h1>')
  expect(text).not.toContain(page.address.split('token=')[1])
})

test.each(['/', '/page.js', '/live', '/retry', '/?token=', `/?token=${'A'.repeat(32)}`, '/../../etc/passwd'])(
  '%s is refused without the token',
  async (path) => {
    const { status, text } = await page.ask(path)
    expect(status).toBe(403)
    expect(text).toContain('the address that docmount ui printed')
  },
)

test('an address that is none is refused as that', async () => {
  const { status, text } = await page.ask('//[', { headers: { cookie } })
  expect(status).toBe(400)
  expect(text).toContain('the address cannot be read')
})

test('another cookie is refused', async () => {
  expect((await page.ask('/', { headers: { cookie: `${cookie}x` } })).status).toBe(403)
  expect((await page.ask('/', { headers: { cookie: cookie.replace(/=.*/, '=') } })).status).toBe(403)
})

test.each(['evil.example', `evil.example:1`, '127.0.0.1', '[::1]:1'])(
  'the name %s is refused, whoever asks',
  async (host) => {
    const { status } = await page.ask('/', { headers: { host, cookie } })
    expect(status).toBe(421)
  },
)

test.each([
  [{ origin: 'http://evil.example' }],
  [{ origin: 'null' }],
  [{ origin: 'http://127.0.0.1:1' }],
  [{ 'sec-fetch-site': 'cross-site' }],
  [{ 'sec-fetch-site': 'same-site' }],
])('another web page is refused: %s', async (headers) => {
  expect((await page.ask('/', { headers: { cookie, ...headers } })).status).toBe(403)
  const form = { token: 'x', drive: 'y', path: '/' }
  expect((await page.ask('/retry', { method: 'POST', form, headers: { cookie, ...headers } })).status).toBe(
    403,
  )
})

test('a change needs the word of the page’s own form, and is no GET', async () => {
  const form = { drive: 'y', path: '/' }
  const refused = await page.ask('/retry', { method: 'POST', form, headers: { cookie } })
  expect([refused.status, refused.text]).toEqual([403, 'this form is of an older page: load it anew\n'])
  expect((await page.ask('/retry', { headers: { cookie } })).status).toBe(405)
  expect((await page.ask('/', { method: 'POST', form, headers: { cookie } })).status).toBe(405)
})

test.each([...actions.keys()])(
  '%s needs the cookie, this page’s origin and its form’s word',
  async (path) => {
    const form = { token: 'x', drive: 'y', path: '/', id: 'z', key: 'k', keep: 'mine' }
    const status = async (headers: Record<string, string>, method = 'POST'): Promise<number> =>
      (await page.ask(path, { method, headers, ...(method === 'POST' ? { form } : {}) })).status
    expect(await status({})).toBe(403)
    expect(await status({ cookie })).toBe(403)
    expect(await status({ cookie, origin: 'http://evil.example' })).toBe(403)
    expect(await status({ cookie }, 'GET')).toBe(405)
  },
)

test('nothing of it may come from, or go, elsewhere', async () => {
  const { headers } = await page.ask('/', { headers: { cookie } })
  expect(headers['content-security-policy']).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  )
  expect(headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': 'no-store',
  })
  const asked = await page.ask('/', { headers: { cookie, origin: `http://127.0.0.1:${page.port}` } })
  expect(asked.status).toBe(200)
  expect(Object.keys(asked.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
  for (const file of ['/', '/page.js', '/page.css', '/icon.svg']) {
    const { status, text } = await page.ask(file, { headers: { cookie } })
    expect(status).toBe(200)
    expect(text.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(
      /https?:\/\/|style="|onclick=|@import/,
    )
  }
  expect((await page.ask('/nothing', { headers: { cookie } })).status).toBe(404)
})

test('another user of this machine is refused, token or not', async (context) => {
  if (!isRoot) return context.skip('only root can be another user')
  const user = await makeOrdinaryUser()
  const asked = await user.bash('timeout 200 curl -s "$1"', page.address)
  await user.remove()
  expect(asked.stdout).toBe('this page belongs to another user of this machine\n')
})

test('a port that is taken, or none, is said', async () => {
  const server: Server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await expect(startPage(bareHomeIn(temporary.path), ['--port', `${port}`])).rejects.toThrow(
    `another program listens at port ${port}; leave --port out`,
  )
  await expect(startPage(bareHomeIn(temporary.path), ['--port', 'x'])).rejects.toThrow(
    /number from 0 to 65535/,
  )
  server.close()
})

test('it opens the browser of a desktop, with the very address, and only there', async () => {
  const opened = join(temporary.path, 'opened')
  await writeFile(
    join(temporary.path, 'xdg-open'),
    `#!/bin/sh\necho "$1" >"${opened}.new" && mv "${opened}.new" "${opened}"\n`,
    { mode: 0o755 },
  )
  const env = { ...bareHomeIn(temporary.path), PATH: `${temporary.path}:${process.env['PATH']}` }
  await (await startPage(env, [])).end()
  const other = await startPage({ ...env, DISPLAY: ':99' }, [])
  const text = await waitUntil('the browser', () => readFile(opened, 'utf8').catch(() => undefined))
  expect(text).toBe(`${other.address}\n`)
  await other.end()
})

test('it ends with Ctrl-C', async () => {
  const other = await startPage(bareHomeIn(temporary.path))
  expect(await other.end()).toBe(0)
})
