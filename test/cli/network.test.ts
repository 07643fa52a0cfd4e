// Companies' networks: a proxy to the outside, a certificate authority of their own. Each command goes the way that is set.

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startService } from '../../src/service/start-service.ts'
import type { Service } from '../../src/service/contract.ts'
import { cli } from '../support/cli.ts'
import { startForwardProxy } from '../support/forward-proxy.ts'
import { bareHomeIn } from '../support/home.ts'
import { makePrivateAuthority, type PrivateAuthority } from '../support/private-authority.ts'
import { bash, run, type Ran } from '../support/run.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

/** An address of this machine that stands for another machine's. */
const elsewhere = '127.0.0.2'
const project = 'acme'

let folder: TemporaryFolder
let authority: PrivateAuthority
let service: Service
let apiKey: string
let home: TemporaryFolder

beforeAll(async () => {
  folder = await makeTemporaryFolder()
  authority = await makePrivateAuthority(folder.path, elsewhere)
  const { cert, key } = authority
  service = await startService({
    dataDir: join(folder.path, 'service'),
    host: elsewhere,
    port: 0,
    projects: [project],
    tls: { cert, key },
  })
  apiKey = await service.createKey(project)
})
afterAll(async () => {
  await service.close()
  await folder.remove()
})
beforeEach(async () => {
  home = await makeTemporaryFolder()
  return () => home.remove()
})

const configFile = (): string => join(home.path, '.config/docmount/config.json')

function docmount(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ran> {
  return run(process.execPath, [cli, ...args], { env: { ...bareHomeIn(home.path), ...env }, mayFail: true })
}

function login(...args: string[]): Promise<Ran> {
  const line = `printf %s "$3" | "$1" "$2" login --key-stdin "\${@:4}"`
  const env = bareHomeIn(home.path)
  return bash(line, [process.execPath, cli, apiKey, '--base-url', service.baseUrl, ...args], {
    env,
    mayFail: true,
  })
}

test('a private authority is named once, by login, and every command trusts it', async () => {
  const refused = await login()
  expect(refused.code).toBe(1)
  expect(refused.stderr).toMatch(
    /^docmount: [^\n]*the certificate of 127\.0\.0\.2 is not trusted [^\n]*docmount login --ca-file FILE[^\n]*\n$/,
  )
  expect(await login('--ca-file', authority.ca)).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(await readFile(configFile(), 'utf8'))).toMatchObject({
    projects: { [project]: { ca_file: authority.ca } },
  })
  const file = join(home.path, 'a.txt')
  await writeFile(file, 'content')
  expect(await docmount(['put', '-q', project, file, '/a.txt'])).toMatchObject({ code: 0, stderr: '' })
  expect((await docmount(['get', '-q', project, '/a.txt', '-'])).stdout).toBe('content')
  expect((await docmount(['projects'])).stdout).toContain(project)
  expect((await docmount(['doctor', project])).stdout).toContain('✓ Range: downloads honour it')
  // A key that is new is no new way.
  expect(await login()).toMatchObject({ code: 0, stderr: '' })
  expect((await docmount(['ls', project])).stdout).toBe('a.txt\n')
})

test('NODE_EXTRA_CA_CERTS is respected, also beside a file of another authority', async () => {
  const other = await makeTemporaryFolder()
  try {
    const { ca } = await makePrivateAuthority(other.path, 'other.example')
    const env = {
      DOCMOUNT_BASE_URL: service.baseUrl,
      DOCMOUNT_API_KEY: apiKey,
      NODE_EXTRA_CA_CERTS: authority.ca,
    }
    expect(await docmount(['projects'], env)).toMatchObject({ code: 0, stderr: '' })
    expect((await docmount(['doctor', '--ca-file', ca], env)).stdout).toContain('✓ API key')
  } finally {
    await other.remove()
  }
})

test('doctor goes through the proxy, and names it without its password', async () => {
  await using proxy = await startForwardProxy()
  await login('--ca-file', authority.ca)
  const env = { HTTPS_PROXY: `someone:secret@${proxy.host}` }
  const { stdout } = await docmount(['doctor', project], env)
  expect(stdout).toContain(`✓ proxy: the service is asked through ${proxy.host}`)
  expect(stdout).toContain(`✓ service: ${service.baseUrl} answers`)
  expect(stdout).not.toContain('secret')
  // The bare question too: nothing goes another way.
  expect(proxy.tunnels.length).toBeGreaterThanOrEqual(2)
  const { code, stdout: dropped } = await docmount(['doctor', project, '--proxy', '127.0.0.1:9'])
  expect(dropped).toMatch(/✗ service: .* does not answer: the proxy 127\.0\.0\.1:9 cannot be reached/)
  expect(code).toBe(1)
})

test('an address of a proxy that is none is one sentence, whoever asks', async () => {
  const drive = join(home.path, 'drive')
  await mkdir(drive)
  await login('--ca-file', authority.ca)
  for (const args of [
    ['ls', project],
    ['doctor', project],
    ['mount', project, drive],
  ]) {
    const { code, stderr } = await docmount(args, { HTTPS_PROXY: 'someone:secret@host:port' })
    expect({ args, code, stderr }).toEqual({
      args,
      code: 2,
      stderr: 'docmount: HTTPS_PROXY is no address of an HTTP proxy: write http://HOST:PORT\n',
    })
  }
})

test('a proxy in the config file is asked, a project’s own before another', async () => {
  await using proxy = await startForwardProxy()
  await using own = await startForwardProxy()
  await login('--ca-file', authority.ca)
  const config = JSON.parse(await readFile(configFile(), 'utf8')) as {
    proxy: string
    projects: { acme: object }
  }
  config.proxy = proxy.host
  Object.assign(config.projects.acme, { proxy: own.host })
  await writeFile(configFile(), JSON.stringify(config))
  expect((await docmount(['projects'])).code).toBe(0)
  expect([proxy.tunnels.length, own.tunnels.length]).toEqual([1, 0])
  expect((await docmount(['ls', project])).code).toBe(0)
  expect([proxy.tunnels.length, own.tunnels.length]).toEqual([1, 1])
})

test('doctor fails where no service is configured, and says what notifications need', async () => {
  const { code, stdout } = await docmount(['doctor'], { PATH: join(home.path, 'nothing') })
  expect(stdout).toContain('✗ service: none is configured')
  expect(stdout).toContain('– notify-send: is not installed')
  expect(stdout).toContain('libnotify-bin')
  expect(code).toBe(1)
})
