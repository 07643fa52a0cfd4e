// Trace of `--verbose`, and how `docmount log` shows it: by both drivers, and without a secret.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { cli } from '../support/cli.ts'
import { startDesk, type Desk } from '../support/desk.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { bash } from '../support/run.ts'
import { project, type TestService } from '../support/service.ts'
import { waitUntil } from '../support/wait-until.ts'

describe.skipIf(whyNoFuse() !== undefined)('a trace', () => {
  let desk: Desk
  let drive: string
  let testService: TestService

  beforeEach(async () => {
    desk = await startDesk()
    ;({ drive, testService } = desk)
    await testService.other.put('/d/given.txt', 'x'.repeat(3_000))
  })
  afterEach(() => desk.close())

  /** Fields of the lines about a path. */
  async function linesOf(...args: readonly string[]): Promise<Record<string, unknown>[]> {
    const { stdout } = await desk.docmount('log', '--json', ...args)
    const lines = stdout.split('\n').filter((line) => line !== '')
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  }

  it.each(['kernel', 'fuse-native'])('tells every operation and every call (%s)', async (driver) => {
    await desk.docmount('mount', project, drive, '--driver', driver, '--verbose')
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
    await desk.docmount('mount', project, drive)
    await bash('cat "$1/d/given.txt" >/dev/null', [drive])
    expect((await linesOf(drive)).filter(({ level }) => level === 'debug')).toEqual([])
  })

  it('of one document leaves the others out, and is followed while it grows', async () => {
    await desk.docmount('mount', project, drive, '--verbose')
    const following = spawn(process.execPath, [cli, 'log', join(drive, 'd/b.txt'), '--follow'], {
      env: desk.env,
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
