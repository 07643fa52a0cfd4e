// `docmount login`, with the key from a script and typed at a terminal.

import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { cli } from '../support/cli.ts'
import { bareHomeIn } from '../support/home.ts'
import { whyNoPython } from '../support/python.ts'
import { answerJson, startRawServer } from '../support/raw-server.ts'
import { bash, run, type Ran } from '../support/run.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

let service: TestService
let home: TemporaryFolder
let keyFile: string
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())
beforeEach(async () => {
  home = await makeTemporaryFolder()
  keyFile = join(home.path, 'key')
  await writeFile(keyFile, `${service.apiKey}\n`)
  return () => home.remove()
})

const environment = (): NodeJS.ProcessEnv => bareHomeIn(home.path)
const configFile = (): string => join(home.path, '.config', 'docmount', 'config.json')

function login(...args: string[]): Promise<Ran> {
  const line = `"$1" "$2" login --key-stdin "\${@:4}" <"$3"`
  return bash(line, [process.execPath, cli, keyFile, ...args], { env: environment(), mayFail: true })
}

test('a key that is accepted is kept, for nobody else to read, and every command finds it', async () => {
  const { code, stdout } = await login('--base-url', service.baseUrl)
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('it sees acme') })
  expect(stdout).not.toContain(service.apiKey)
  expect((await stat(configFile())).mode & 0o777).toBe(0o600)
  const { stdout: projects } = await run(process.execPath, [cli, 'projects'], { env: environment() })
  expect(projects).toContain('acme')
})

test('an address without /api is understood, and the right one is said and kept', async () => {
  const { stdout } = await login('--base-url', service.baseUrl.replace(/\/api$/, ''))
  expect(stdout).toContain(`the service is ${service.baseUrl}`)
  expect(JSON.parse(await readFile(configFile(), 'utf8'))).toMatchObject({
    projects: { acme: { base_url: service.baseUrl } },
  })
})

test('what the file held already stays', async () => {
  await mkdir(join(home.path, '.config', 'docmount'), { recursive: true })
  const other = { base_url: 'https://other.example/api', api_key_file: '~/other', projects: { other: {} } }
  await writeFile(configFile(), JSON.stringify(other))
  await login('--base-url', service.baseUrl)
  expect(JSON.parse(await readFile(configFile(), 'utf8'))).toMatchObject(other)
})

async function writeConfig(config: object): Promise<void> {
  await mkdir(join(home.path, '.config', 'docmount'), { recursive: true })
  await writeFile(configFile(), JSON.stringify(config), { mode: 0o600 })
}
const readConfig = async (): Promise<unknown> => JSON.parse(await readFile(configFile(), 'utf8'))

test('a key that sees no project yet is the default key of its service, in place of an older one', async () => {
  await using empty = await startRawServer((_, response) => answerJson(response, 200, []))
  const baseUrl = `${empty.origin}/api`
  await writeConfig({ base_url: `${baseUrl}/`, api_key_file: '~/older' })
  expect((await login('--base-url', baseUrl)).stdout).toContain('it sees no project yet')
  expect(await readConfig()).toEqual({ base_url: `${baseUrl}/`, api_key: service.apiKey })
})

test('a key that sees no project is never kept beside the URL of another service', async () => {
  await using empty = await startRawServer((_, response) => answerJson(response, 200, []))
  await login('--base-url', service.baseUrl)
  const config = await readConfig()
  await writeFile(keyFile, 'dm_key_of_the_other')
  const { code, stdout, stderr } = await login('--base-url', `${empty.origin}/api`)
  expect({ code, stdout, stderr }).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/sees no project of .* already keeps a key or address .*DOCMOUNT_CONFIG/),
  })
  expect(await readConfig()).toEqual(config)
  expect((await run(process.execPath, [cli, 'projects'], { env: environment() })).stdout).toContain('acme')
  expect(JSON.stringify(empty.requests)).not.toContain(service.apiKey)
})

test.each([{ api_key: 'dm_elsewhere' }, { projects: { other: { api_key: 'dm_elsewhere' } } }])(
  'a key that was kept without a URL gets none: %j',
  async (kept) => {
    await writeConfig(kept)
    expect((await login('--base-url', service.baseUrl)).code).toBe(0)
    expect(await readConfig()).toMatchObject({
      ...kept,
      projects: { acme: { base_url: service.baseUrl, api_key: service.apiKey } },
    })
    expect(await readConfig()).not.toHaveProperty('base_url')
  },
)

test('a new key for the same projects replaces the default key, too, unless another project still has that', async () => {
  await login('--base-url', service.baseUrl)
  const newKey = async (): Promise<string> => {
    const key = await service.service.createKey('acme')
    await writeFile(keyFile, key)
    await login('--base-url', service.baseUrl)
    return key
  }
  const second = await newKey()
  expect(await readConfig()).toMatchObject({ api_key: second, projects: { acme: { api_key: second } } })
  const other = { base_url: service.baseUrl, api_key: second }
  await writeConfig({ ...((await readConfig()) as object), projects: { acme: other, other } })
  const third = await newKey()
  expect(await readConfig()).toMatchObject({ api_key: second, projects: { acme: { api_key: third }, other } })
})

test('a key that is refused changes nothing and says where a new one is made', async () => {
  await writeFile(keyFile, 'dm_wrong_key')
  const { code, stderr } = await login('--base-url', service.baseUrl)
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/refuses the key \(401 .*settings/),
  })
  expect(stderr).not.toContain('dm_wrong_key')
  await expect(stat(configFile())).rejects.toThrow('ENOENT')
})

test('no service, no key and no terminal are one sentence each', async () => {
  expect((await login()).stderr).toMatch(/which service\?/)
  expect((await login('--base-url', 'http://127.0.0.1:1')).stderr).toMatch(/no Project Document Service at/)
  await writeFile(keyFile, '')
  expect((await login('--base-url', service.baseUrl)).stderr).toMatch(/the key is empty/)
  const bare = await run(process.execPath, [cli, 'login'], { env: environment(), mayFail: true })
  expect(bare).toMatchObject({ code: 2, stderr: expect.stringMatching(/add --key-stdin/) })
})

/** Runs `docmount login` at a terminal of its own, and types each answer when its question is there. */
function typed(answers: readonly (readonly [question: string, keys: string])[]): Promise<Ran> {
  const typist = `
import json, os, pty, sys
answers = json.loads(sys.argv[1])
pid, terminal = pty.fork()
if pid == 0: os.execvp(sys.argv[2], sys.argv[2:])
shown = b''
unanswered = b''
while True:
    try: piece = os.read(terminal, 4096)
    except OSError: break
    if not piece: break
    shown += piece
    unanswered += piece
    if answers and answers[0][0].encode() in unanswered:
        os.write(terminal, answers.pop(0)[1].encode())
        unanswered = b''
sys.stdout.write(shown.decode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))`
  const args = ['-c', typist, JSON.stringify(answers), process.execPath, cli, 'login']
  return run('python3', args, { env: environment(), mayFail: true })
}

test.skipIf(whyNoPython !== undefined)('a key typed at a terminal is not shown', async () => {
  const { code, stdout } = await typed([
    ['Service', `${service.baseUrl}\r`],
    ['not shown', `${service.apiKey}\r`],
  ])
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('it sees acme') })
  expect(stdout).not.toContain(service.apiKey)
})

test.skipIf(whyNoPython !== undefined)(
  'a wrong key is asked for again, and one is told where keys are made',
  async () => {
    const { code, stdout } = await typed([
      ['Service', `${service.baseUrl}\r`],
      ['not shown', 'dm_wrong_key\r'],
      ['not shown', '\r'],
      ['not shown', `${service.apiKey}\r`],
    ])
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('it sees acme') })
    expect(stdout).toMatch(/refuses the key \(401 .*docmount keys create PROJECT --data DIR/)
    expect(stdout).toContain('the key is empty')
    expect(stdout).not.toContain('dm_wrong_key')
  },
)

test.skipIf(whyNoPython !== undefined)('the third wrong key ends it', async () => {
  const wrong = ['not shown', 'dm_wrong_key\r'] as const
  const { code, stdout } = await typed([['Service', `${service.baseUrl}\r`], wrong, wrong, wrong])
  expect(code).toBe(1)
  expect(stdout.match(/refuses the key/g)).toHaveLength(3)
})

describe.skipIf(whyNoPython !== undefined).each([
  ['Ctrl-C', '\u0003'],
  ['Ctrl-D', '\u0004'],
])('%s at a question ends it in a word, with nothing kept', (_name, key) => {
  test('for the service', async () => {
    const { code, stdout } = await typed([['Service', key]])
    expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringMatching(/docmount: interrupted\r\n$/) })
  })

  test('for the key', async () => {
    const { code, stdout } = await typed([
      ['Service', `${service.baseUrl}\r`],
      ['not shown', key],
    ])
    expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringMatching(/docmount: interrupted\r\n$/) })
    expect(stdout).not.toContain('    at ')
    await expect(stat(configFile())).rejects.toThrow('ENOENT')
  })
})
