// Errors at the beginning: one plain sentence that says what to do.

import { createServer as createHttpServer } from 'node:http'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import Database from 'libsql'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Journal } from '../../src/content/spool/journal.ts'
import { schemaVersion } from '../../src/content/spool/journal-migrations.ts'
import { realWorld } from '../../src/world/world.ts'
import { cli } from '../support/cli.ts'
import { bareHomeIn } from '../support/home.ts'
import { bash, run, type Ran } from '../support/run.ts'
import { project, startTestService, type TestService } from '../support/service.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

let service: TestService
let home: TemporaryFolder
let config: string
const others: Server[] = []

beforeAll(async () => {
  service = await startTestService()
})
afterAll(async () => {
  for (const other of others) other.close()
  await service.close()
})
beforeEach(async () => {
  home = await makeTemporaryFolder()
  await mkdir(join(home.path, 'drive'))
  await mkdir(join(home.path, '.config/docmount'), { recursive: true })
  config = join(home.path, '.config/docmount/config.json')
  return () => home.remove()
})

function docmount(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ran> {
  return run(process.execPath, [cli, ...args], {
    env: { ...bareHomeIn(home.path), ...env },
    mayFail: true,
  })
}

async function listen(other: Server): Promise<number> {
  others.push(other)
  await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening))
  return (other.address() as AddressInfo).port
}

async function refusalOf(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const { code, stderr } = await docmount(args, env)
  expect(code).not.toBe(0)
  expect(stderr).toMatch(/^docmount: [^\n]*\n$/)
  expect(stderr).not.toContain(service.apiKey)
  return stderr
}

const mountQuietly = (baseUrl: string): string[] => [
  'mount', '--quiet', project, join(home.path, 'drive'), '--base-url', baseUrl,
] // prettier-ignore

describe('an address', () => {
  test('without its /api is recognised, by mount and by doctor', async () => {
    const short = service.baseUrl.replace(/\/api$/, '')
    const env = { DOCMOUNT_API_KEY: service.apiKey }
    expect(await refusalOf(mountQuietly(short), env)).toContain(
      `${short} is not the service's root: use --base-url ${service.baseUrl}`,
    )
    const { stdout } = await docmount(['doctor', '--base-url', short], env)
    expect(stdout).toContain(`✗ base URL: ${short} is not the service's root; ${service.baseUrl} is`)
  })

  test('where something else listens is called that', async () => {
    const env = { DOCMOUNT_API_KEY: service.apiKey }
    const ssh = await listen(
      createServer((socket) => socket.on('error', () => {}).end('SSH-2.0-OpenSSH_9.2\r\n')),
    )
    const page = await listen(
      createHttpServer((_request, answer) => answer.setHeader('content-type', 'text/html').end('<html>')),
    )
    for (const port of [ssh, page])
      expect(await refusalOf(mountQuietly(`http://127.0.0.1:${port}/api`), env)).toMatch(
        /what answers at http:\S+ is no Project Document Service \(.*\); check --base-url/,
      )
    expect(await refusalOf(['ls', project, '--base-url', `http://127.0.0.1:${ssh}/api`], env)).toMatch(
      /is not HTTP/,
    )
  })

  test('that speaks no TLS is said in one line, and asked in the clear on this machine', async () => {
    const env = { DOCMOUNT_API_KEY: service.apiKey }
    const tls = service.baseUrl.replace('http:', 'https:')
    expect(await refusalOf(['ls', project, '--base-url', tls], env)).toMatch(
      /no connection: .*no TLS.*http:\/\//,
    )
    const bare = service.baseUrl.replace(/^http:\/\/|\/api$/g, '')
    const line = 'printf %s "$3" | "$1" "$2" login --key-stdin --base-url "$4"'
    const said = await bash(line, [process.execPath, cli, service.apiKey, bare], {
      env: { ...bareHomeIn(home.path), ...env },
    })
    expect(said.stdout).toContain(`the service is ${service.baseUrl}`)
  })

  test('that cannot be reached is said once', async () => {
    const env = { DOCMOUNT_API_KEY: service.apiKey }
    const said = await refusalOf(mountQuietly('http://127.0.0.1:1/api'), env)
    expect(said.match(/GET \//g)).toHaveLength(1)
    expect(said).not.toContain('out of reach')
  })

  test('that is missing is asked for', async () => {
    expect(await refusalOf(['ls', project])).toMatch(/which service\? Add --base-url URL, .*docmount login/)
  })
})

describe('a config file', () => {
  test.each([
    ['{ "base-url": "x" }', /the field "base-url" is not known; is "base_url" meant\?/],
    [
      '{ "projects": { "acme": { "apikey": "SECRET" } } }',
      /the field "apikey" is not known; is "api_key" meant\?/,
    ],
    ['{ "colour": "x" }', /the field "colour" is not known; it knows base_url, /],
    ['{\n  "base_url": "x",\n}', /is not valid JSON \(line 3: a comma too many/],
    ['{\n  "base_url": "x"\n  "api_key": "SECRET" }', /is not valid JSON \(line 3: a comma too many/],
  ])('%j is told what is wrong with it', async (text, words) => {
    await writeFile(config, text, { mode: 0o600 })
    const said = await refusalOf(['ls', project])
    expect(said).toMatch(words)
    expect(said).not.toContain('SECRET')
  })

  test('is read by doctor for one project, which the key has to see', async () => {
    const acme = { base_url: service.baseUrl, api_key: service.apiKey }
    await writeFile(config, JSON.stringify({ projects: { acme, other: acme } }), { mode: 0o600 })
    expect((await docmount(['doctor', 'acme'])).stdout).toContain('✓ project: the key sees acme')
    const { code, stdout } = await docmount(['doctor', 'other'])
    expect(stdout).toContain('✗ project: the key does not see other; it sees acme')
    expect(code).toBe(1)
  })
})

test('a key file that others can read is refused with the command that fixes it', async () => {
  const file = join(home.path, 'key')
  await writeFile(file, service.apiKey, { mode: 0o644 })
  const env = { DOCMOUNT_API_KEY_FILE: file, DOCMOUNT_BASE_URL: service.baseUrl }
  expect(await refusalOf(['ls', project], env)).toContain(`others can read it; run: chmod 600 ${file}`)
})

test('a key file that is a folder is called that, and a key that is refused leads to another', async () => {
  const env = { DOCMOUNT_API_KEY_FILE: home.path, DOCMOUNT_BASE_URL: service.baseUrl }
  expect(await refusalOf(['ls', project], env)).toContain(`cannot read the key file ${home.path}: EISDIR`)
  const wrong = { DOCMOUNT_API_KEY: 'wrong', DOCMOUNT_BASE_URL: service.baseUrl }
  expect(await refusalOf(['ls', project], wrong)).toMatch(/401 .*; docmount login takes another key/)
})

test('a place that is none, ours or the drive’s, is told with what to do', async () => {
  const said = await bash('mkdir "$3" && cd "$3" && rmdir "$3" && exec "$1" "$2" status a', [
    process.execPath, cli, join(home.path, 'gone'),
  ], { env: bareHomeIn(home.path), mayFail: true }) // prettier-ignore
  expect(said.stderr).toBe('docmount: the folder you are in is gone; go to another one (cd)\n')
  const file = join(home.path, 'file')
  await writeFile(file, '')
  const env = { DOCMOUNT_API_KEY: service.apiKey }
  for (const option of ['--state-dir', '--cache-dir'])
    expect(await refusalOf([...mountQuietly(service.baseUrl), option, join(file, 'x')], env)).toMatch(
      new RegExp(`cannot make the .* folder ${file}/x(?:/acme-\\w+)? \\(ENOTDIR\\); ${option} names another`),
    )
})

test('a journal that a newer docmount wrote is refused by mount in one sentence that says what to do', async () => {
  const state = join(home.path, 'state')
  new Journal(state, realWorld()).close()
  const db = new Database(join(state, 'journal.db'))
  db.exec(`pragma user_version = ${schemaVersion + 1}`)
  db.close()
  const env = { DOCMOUNT_API_KEY: service.apiKey }
  expect(await refusalOf([...mountQuietly(service.baseUrl), '--state-dir', state], env)).toBe(
    `docmount: the journal in ${state} was written by a newer docmount ` +
      `(schema ${schemaVersion + 1}, this one knows ${schemaVersion}): use that one, or another --state-dir\n`,
  )
})

test.skipIf(process.getuid?.() !== 0)('who has no home folder is told to set HOME', async () => {
  const { HOME: _, ...env } = bareHomeIn(home.path)
  const said = await run('setpriv', ['--reuid', '54321', '--clear-groups', process.execPath, cli, 'status'], {
    env,
    mayFail: true,
  })
  expect(said).toMatchObject({ code: 1, stderr: 'docmount: your home folder is not known: set HOME\n' })
})

test('what is no certificate is called that', async () => {
  const file = join(home.path, 'cert.pem')
  await writeFile(file, 'no certificate')
  const env = { DOCMOUNT_API_KEY: service.apiKey, DOCMOUNT_BASE_URL: service.baseUrl }
  const args = ['webdav', '--quiet', project, '--listen', '127.0.0.1:0', '--cert', file, '--key', file]
  expect(await refusalOf(args, env)).toContain(`${file} and ${file} are no certificate and its key (PEM)`)
})

test('a local folder that is missing, or is a file, is named with what to do', async () => {
  await service.other.put('/a.txt', 'a')
  const env = { DOCMOUNT_API_KEY: service.apiKey, DOCMOUNT_BASE_URL: service.baseUrl }
  const missing = join(home.path, 'no where')
  expect(await refusalOf(['get', project, '/a.txt', join(missing, 'a.txt')], env)).toBe(
    `docmount: the folder ${missing} does not exist; run: mkdir -p '${missing}'\n`,
  )
  expect(await refusalOf(['put', project, join(missing, 'a.txt'), '/b.txt'], env)).toContain(
    `there is no file ${missing}/a.txt`,
  )
  const file = join(home.path, 'file')
  await writeFile(file, '')
  expect(await refusalOf(['recover', '--all', file])).toContain(
    `${file} cannot be made (a file is in the way)`,
  )
  expect(await refusalOf(['serve', '--data', file])).toContain(`${file} is not a folder`)
})

test('a folder without a slash behind its path is told how it is uploaded', async () => {
  const env = { DOCMOUNT_API_KEY: service.apiKey, DOCMOUNT_BASE_URL: service.baseUrl }
  expect(await refusalOf(['put', project, home.path, '/x.txt'], env)).toBe(
    `docmount: ${home.path} is a folder: with a slash at its end, /x.txt/ takes it and everything in it\n`,
  )
})

test('a service that cannot listen says what to do, and one that can where its keys are made', async () => {
  const { port } = new URL(service.baseUrl)
  const args = [
    'serve',
    '--data',
    join(home.path, 'data'),
    '--project',
    project,
    '--listen',
    `127.0.0.1:${port}`,
  ]
  expect(await refusalOf(args)).toBe(
    `docmount: another program listens at 127.0.0.1:${port}; choose another place with --listen\n`,
  )
})

test('a unit is not written where nobody can start it', async () => {
  await writeFile(config, JSON.stringify({ base_url: service.baseUrl, api_key: service.apiKey }), {
    mode: 0o600,
  })
  const env = { XDG_RUNTIME_DIR: join(home.path, 'none'), DBUS_SESSION_BUS_ADDRESS: 'unix:path=/none' }
  expect(await refusalOf(['service', 'install', project], env)).toMatch(/systemctl/)
  expect(await readdir(home.path)).not.toContain(project)
  expect(await readdir(join(home.path, '.config'))).toEqual(['docmount'])
})

test('a drive that is not mounted is not found by the name of its project', async () => {
  expect(await refusalOf(['unmount', project])).toBe(
    `docmount: ${project} is neither on a drive nor the project of one; docmount status lists them\n`,
  )
})

test('an empty document is taken as one', async () => {
  const env = { DOCMOUNT_API_KEY: service.apiKey, DOCMOUNT_BASE_URL: service.baseUrl }
  const file = join(home.path, 'empty.txt')
  await writeFile(file, '')
  expect(await docmount(['put', '--quiet', project, file, '/empty.txt'], env)).toMatchObject({
    code: 0,
    stderr: '',
  })
  expect((await service.other.bytes('/empty.txt')).length).toBe(0)
})

test('what cannot be copied out is named, and not called sent', async () => {
  const stateDir = join(home.path, '.local/state/docmount', `${project}-0123456789`)
  await mkdir(stateDir, { recursive: true, mode: 0o700 })
  await writeFile(join(stateDir, 'journal.db'), 'no journal')
  const { code, stderr } = await docmount(['recover', '--all', join(home.path, 'rescued')])
  expect(stderr).toContain(stateDir)
  expect(stderr).not.toContain('nothing to copy')
  expect(code).toBe(1)
})
