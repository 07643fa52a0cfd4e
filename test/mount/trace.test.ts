// What `--verbose` writes down, and how `docmount log` shows it: by both drivers, and without a secret.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { whyNoFuse } from '../support/fuse.ts'
import { bash, run, type Ran } from '../support/run.ts'
import { project, startTestService, type TestService } from '../support/service.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { waitUntil } from '../support/wait-until.ts'

const cli = new URL('../../dist/cli/main.js', import.meta.url).pathname

describe.skipIf(whyNoFuse() !== undefined)('a trace', () => {
  let temporary: TemporaryFolder
  let testService: TestService
  let drive: string
  let env: NodeJS.ProcessEnv

  beforeEach(async () => {
    temporary = await makeTemporaryFolder()
    testService = await startTestService()
    await testService.other.put('/d/given.txt', 'x'.repeat(3_000))
    drive = join(temporary.path, 'drive')
    for (const name of ['drive', 'run']) await mkdir(join(temporary.path, name))
    env = {
      PATH: process.env['PATH'],
      HOME: temporary.path,
      XDG_RUNTIME_DIR: join(temporary.path, 'run'),
      DOCMOUNT_BASE_URL: testService.baseUrl,
      DOCMOUNT_API_KEY: testService.apiKey,
    }
  })
  afterEach(async () => {
    await docmount('unmount', drive)
    await run('umount', ['-l', drive], { mayFail: true })
    await testService.close()
    await temporary.remove()
  })

  function docmount(...args: readonly string[]): Promise<Ran> {
    return run(process.execPath, [cli, ...args], { env, mayFail: true })
  }

  /** Fields of the lines about a path. */
  async function linesOf(...args: readonly string[]): Promise<Record<string, unknown>[]> {
    const { stdout } = await docmount('log', '--json', ...args)
    const lines = stdout.split('\n').filter((line) => line !== '')
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  }

  it.each(['kernel', 'fuse-native'])('tells every operation and every call (%s)', async (driver) => {
    await docmount('mount', project, drive, '--driver', driver, '--verbose')
    await bash('cat "$1/d/given.txt" >/dev/null; echo new >"$1/d/new.txt"; stat "$1/d/missing.txt" || true', [
      drive,
    ])
    const operation = (msg: string, path: string, result: string | number): unknown =>
      expect.objectContaining({ msg, path, result, us: expect.any(Number) as number })
    const call = (msg: string, path: string, status: number): unknown =>
      expect.objectContaining({ msg, path, status, attempt: 1, ms: expect.any(Number) as number })
    await waitUntil('the release to be told', async () =>
      (await linesOf(drive)).some(({ msg, path }) => msg === 'release' && path === '/d/new.txt'),
    )
    const lines = await linesOf(drive)
    expect(lines).toEqual(
      expect.arrayContaining([
        operation('lookup', '/d/missing.txt', 'ENOENT'),
        operation('open', '/d/given.txt', 'ok'),
        operation('read', '/d/given.txt', 3_000),
        operation('create', '/d/new.txt', 'ok'),
        operation('write', '/d/new.txt', 4),
        operation('flush', '/d/new.txt', 'ok'),
        call('GET', '/d', 200),
        call('download', '/d/given.txt', 206),
        call('PUT', '/d/new.txt', 201),
      ]),
    )
    const text = JSON.stringify(lines)
    expect(text).not.toContain(testService.apiKey)
    expect(text).not.toMatch(/signature|https?:[^"]*\?/i)
  })

  it('is not written where nobody asked for it', async () => {
    await docmount('mount', project, drive)
    await bash('cat "$1/d/given.txt" >/dev/null', [drive])
    expect((await linesOf(drive)).filter(({ level }) => level === 'debug')).toEqual([])
  })

  it('of one document leaves the others out, and is followed while it grows', async () => {
    await docmount('mount', project, drive, '--verbose')
    const following = spawn(process.execPath, [cli, 'log', join(drive, 'd/b.txt'), '--follow'], {
      env,
      cwd: '/',
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let said = ''
    following.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
    try {
      await bash('echo a >"$1/d/a.txt"; echo b >"$1/d/b.txt"; echo c >"$1/d/b.txt.bak.txt"', [drive])
      await waitUntil('the save to be told', () => /PUT {2}path=\/d\/b.txt {2}status=201/.test(said))
      expect(said).not.toContain('/d/a.txt')
      expect(said).not.toContain('.bak')
    } finally {
      following.kill('SIGINT')
      await once(following, 'exit')
    }
  })
})
