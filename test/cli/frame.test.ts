// The built program as a script sees it: one line, an exit code, nothing heavy loaded. Needs `npm run build`.

import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cli } from '../support/cli.ts'
import { bareHomeIn } from '../support/home.ts'
import { run, type Ran } from '../support/run.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

let temporary: TemporaryFolder
beforeAll(async () => {
  temporary = await makeTemporaryFolder()
  await mkdir(join(temporary.path, 'drive'))
})
afterAll(() => temporary.remove())

function docmount(args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  return run(process.execPath, [cli, ...args], {
    env: { ...bareHomeIn(temporary.path), ...env },
    mayFail: true,
  })
}

const configured = { DOCMOUNT_BASE_URL: 'http://127.0.0.1:1/api', DOCMOUNT_API_KEY: 'SECRET' }

describe('usage errors are one line and exit code 2', () => {
  test.each([
    [['bogus'], /unknown command 'bogus'/],
    [['mount'], /which project\? Name one, or --all/],
    [['mount', '--all', '--read-only'], /--all takes nothing beside it/],
    [['mount', 'acme'], /Add --base-url/],
    [['mount', 'acme', '--base-url', 'ftp://x/api'], /must look like https:\/\/host\/api/],
    [['mount', 'acme', '--cache-ttl', '15m'], /live 15 minutes/],
    [['mount', 'acme', '--close-wait', 'soon'], /a duration like 30s/],
    [['mount', 'acme', '--cache-size', '5G'], /a size like 5GiB/],
    [['mount', 'acme', '--driver', 'x'], /Allowed choices are auto, kernel, fuse-native/],
    [['mount', 'acme', '--on-conflict', 'x'], /Allowed choices are keep, overwrite/],
    [['mount', 'acme', '-o', 'foo=bar'], /unknown mount option "foo=bar"/],
    [['mount', '..', '--base-url', 'http://127.0.0.1:1/api'], /cannot name a folder in your home/],
    [['status', '--bogus'], /unknown option '--bogus'/],
  ])('%j', async (args, words) => {
    const { code, stdout, stderr } = await docmount(args)
    expect(stderr).toMatch(words)
    expect(stderr.trim().split('\n')).toHaveLength(1)
    expect(stderr).toMatch(/^docmount: /)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })
})

describe('output that nobody takes', () => {
  function shell(line: string): Promise<Ran> {
    const words = `'${process.execPath}' '${cli}'`
    return run('bash', ['-c', line.replace('docmount', words)], {
      env: bareHomeIn(temporary.path),
      mayFail: true,
    })
  }

  // `true` is gone before the first line is written.
  test.each([['help'], ['completion bash'], ['types']])(
    'of %s is no failure: the reader has seen enough',
    async (args) => {
      expect(await shell(`set -o pipefail; docmount ${args} | true`)).toMatchObject({
        code: 0,
        stderr: '',
      })
    },
  )

  test.each([['help'], ['completion bash'], ['types'], ['types --json a.pdf'], ['--version']])(
    'of %s on a full disk is a failure in one line',
    async (args) => {
      const { code, stderr } = await shell(`docmount ${args} > /dev/full`)
      expect(stderr).toMatch(/^docmount: ENOSPC: [^\n]+\n$/)
      expect(code).toBe(1)
    },
  )
})

describe('failures are one line and exit code 1', () => {
  test.each([
    [['status', '/nowhere'], /is on no drive/],
    [['unmount', '/nowhere'], /is on no drive/],
    [['wait'], /no drive is mounted/],
    [['retry', '/nowhere/x'], /is on no drive/],
    [
      ['mount', 'acme', '--base-url', 'http://127.0.0.1:1/api'],
      /no API key; run docmount login, or set DOCMOUNT_API_KEY/,
    ],
  ])('%j', async (args, words) => {
    const { code, stderr } = await docmount(args)
    expect(stderr).toMatch(words)
    expect(stderr.trim().split('\n')).toHaveLength(1)
    expect(code).toBe(1)
  })

  test('a mountpoint that is missing, full, a file, or inside the state is refused by the daemon in its words', async () => {
    const full = join(temporary.path, 'full')
    await mkdir(full)
    await writeFile(join(full, 'file'), '')
    const drive = join(temporary.path, 'drive')
    const cases: [string[], RegExp][] = [
      [[join(temporary.path, 'missing')], /does not exist; run: mkdir -p/],
      [[full], /is not empty/],
      [[join(full, 'file')], /is not a folder/],
      [[drive, '--state-dir', join(drive, 'state')], /state folder .* lies inside the mountpoint/],
      [[drive, '--log', join(drive, 'a.log')], /log folder .* lies inside the mountpoint/],
    ]
    for (const [args, words] of cases) {
      const { code, stdout, stderr } = await docmount(['mount', '--quiet', 'acme', ...args], configured)
      expect(stderr).toMatch(words)
      expect(stderr.trim().split('\n')).toHaveLength(1)
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    }
  })
})

test('a service that cannot be reached is temporary: exit code 75', async () => {
  const { code, stderr } = await docmount(['mount', 'acme', join(temporary.path, 'drive')], configured)
  expect(stderr).toMatch(/cannot reach the service at http:\/\/127\.0\.0\.1:1\/api/)
  expect(stderr).not.toContain('SECRET')
  expect(code).toBe(75)
})

test('status for scripts is an array', async () => {
  const { code, stdout } = await docmount(['status', '--json'])
  const drives = JSON.parse(stdout) as { state: string; stateDir?: string }[]
  // Drives of tests beside may be mounted on this machine.
  const own = drives.filter(
    ({ state, stateDir }) => state !== 'unknown' && stateDir?.startsWith(temporary.path),
  )
  expect(own).toEqual([])
  expect(code).toBe(0)
})

test('doctor tells what stands in the way of a service', async () => {
  const { code, stdout } = await docmount(['doctor', '--json'], configured)
  const checks = JSON.parse(stdout) as { name: string; result: string; finding: string; fix?: string }[]
  const service = checks.find(({ name }) => name === 'service')
  expect(service).toMatchObject({
    result: 'problem',
    finding: expect.stringContaining('ECONNREFUSED') as string,
  })
  expect(checks.filter(({ result, fix }) => result !== 'good' && fix === undefined)).toEqual([])
  expect(code).toBe(1)
})

test('help teaches every command', async () => {
  const { code, stdout } = await docmount(['--help'])
  for (const command of ['mount', 'unmount', 'status', 'wait', 'refresh', 'retry', 'recover', 'doctor']) {
    expect(stdout).toContain(`\n  ${command}`)
    expect((await docmount([command, '--help'])).code).toBe(0)
  }
  expect(stdout).toContain('$ docmount mount acme')
  expect(code).toBe(0)
})

test.each([['--help'], ['status'], ['--version']])('%s loads nothing heavy', async (arg) => {
  const packages = await packagesOf(arg)
  expect(packages).toContain('commander')
  const heavy = ['undici', 'fastify', 'libsql', 'kysely', 'pino', 'typebox', 'fuse-native', 'koffi']
  expect(heavy.filter((name) => packages.has(name))).toEqual([])
})

test('serve makes its schemas of nothing: TypeBox was a sixth of its start', async () => {
  const packages = await packagesOf('serve', '--data', '/dev/null')
  expect(packages).toContain('fastify')
  expect(packages).not.toContain('typebox')
})

/** Packages that a command loads, by itself or in a part of the program, which names each piece's file. */
async function packagesOf(...args: string[]): Promise<Set<string>> {
  const { stderr } = await docmount(args, { NODE_DEBUG: 'esm,module' })
  const parts = new Set(stderr.match(/(?<=file:\/\/)\S+\/dist\/cli\/[\w-]+\.js/g))
  const texts = await Promise.all([...parts].map((part) => readFile(part, 'utf8')))
  return new Set([stderr, ...texts].flatMap((text) => text.match(/(?<=\bnode_modules\/)[\w.-]+/g) ?? []))
}

test('mount(8), which calls the program by another name, gets its own exit codes', async () => {
  const helper = join(temporary.path, 'mount.docmount')
  await symlink(cli, helper)
  const asHelper = (args: readonly string[]): Promise<Ran> =>
    run(process.execPath, [helper, ...args], {
      env: { ...bareHomeIn(temporary.path), ...configured },
      mayFail: true,
    })
  expect((await asHelper(['acme:', '/nowhere', '-o', 'foo=bar'])).code).toBe(1)
  expect((await asHelper(['acme:', '/nowhere', '-o', 'ro,nosuid'])).code).toBe(32)
})

test('help tells a default as it would be typed: a duration is no count of milliseconds', async () => {
  const { stdout } = await docmount(['keys', 'rotate', '--help'])
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain('how long the old key stays valid (default: 1d)')
})
