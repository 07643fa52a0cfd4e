// Progress for a person who waits: at a terminal, in a script, and with --quiet.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { formatBytes, secondsText } from '../../src/amounts.ts'
import { progressText } from '../../src/cli/progress-text.ts'
import { cli } from '../support/cli.ts'
import { bareHomeIn } from '../support/home.ts'
import { whyNoPython } from '../support/python.ts'
import { run } from '../support/run.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { atTerminal } from '../support/terminal.ts'
import { waitUntil } from '../support/wait-until.ts'

describe('the line', () => {
  const state = {
    label: 'sending',
    done: 30 * 2 ** 20,
    total: 120 * 2 ** 20,
    perSecond: 2 ** 20,
    note: '3 of 9 documents',
  }

  test('says how much of how much, how fast, and how long still', () => {
    expect(progressText(state, 120, formatBytes)).toBe(
      'sending  ██████░░░░░░░░░░░░░░░░░░  25 %  30.0 MiB of 120.0 MiB  1.0 MiB/s  90 s left  3 of 9 documents',
    )
  })

  test('fits the terminal: a shorter bar, none, no note, less of the label', () => {
    for (const columns of [200, 100, 90, 80, 60, 40, 20, 5]) {
      expect(progressText(state, columns, formatBytes).length).toBeLessThanOrEqual(columns)
    }
    expect(progressText({ ...state, label: 'a'.repeat(80) }, 60, formatBytes)).toMatch(
      /^a+…  25 %  30\.0 MiB/,
    )
  })

  test('says only what is known, and 100 % only at the end', () => {
    expect(progressText({ ...state, total: undefined, perSecond: undefined }, 80, formatBytes)).toBe(
      'sending  30.0 MiB  3 of 9 documents',
    )
    expect(progressText({ ...state, done: 120 * 2 ** 20 - 1 }, 120, formatBytes)).toContain(' 99 % ')
    expect(progressText({ ...state, done: 0, total: 0, perSecond: 0, note: '' }, 80, formatBytes)).toBe(
      'sending  0 bytes',
    )
  })

  test.each([
    [0.2, '1 s'],
    [59.6, '60 s'],
    [99.4, '99 s'],
    [120, '2 min'],
    [7_500, '2 h 5 min'],
  ])('%d seconds are %s', (seconds, text) => expect(secondsText(seconds)).toBe(text))
})

describe('documents under way', () => {
  let service: TestService
  let home: TemporaryFolder
  let env: NodeJS.ProcessEnv
  let folder: string
  beforeAll(async () => {
    service = await startTestService()
    home = await makeTemporaryFolder()
    folder = join(home.path, 'in')
    await mkdir(folder)
    for (const name of ['a.txt', 'b.txt', 'c.txt']) await writeFile(join(folder, name), 'x'.repeat(400_000))
    env = {
      ...bareHomeIn(home.path),
      DOCMOUNT_BASE_URL: service.baseUrl,
      DOCMOUNT_API_KEY: service.apiKey,
    }
  })
  afterAll(async () => {
    await service.close()
    await home.remove()
  })

  const put = (path: string, ...args: string[]): string[] => {
    return [cli, 'put', 'acme', folder, path, '--bwlimit', '500K', ...args]
  }

  test.skipIf(whyNoPython !== undefined)('are a bar at a terminal, over all of them', async () => {
    const { code, drawn } = await atTerminal(process.execPath, put('/bar/'), { env })
    expect(code).toBe(0)
    expect(drawn).toMatch(/█+░+ {2}\d+ % {2}\d+\.\d KiB of 1\.1 MiB {2}\d+\.\d KiB\/s {2}\d+ s left/)
    expect(drawn).toContain('of 3 documents')
    // Coloured, and taken away before the last line.
    expect(drawn).toContain('\u001b[36m')
    // eslint-disable-next-line no-control-regex
    expect(drawn).toMatch(/\u001b\[0K[^█]*3 stored \(1\.1 MiB\)\r\n/)
  })

  test.skipIf(whyNoPython !== undefined)('are a bar without colour with NO_COLOR', async () => {
    const { drawn } = await atTerminal(process.execPath, put('/plain/'), { env: { ...env, NO_COLOR: '1' } })
    expect(drawn).toMatch(/\d+ % {2}\d+/)
    // eslint-disable-next-line no-control-regex
    expect(drawn).not.toMatch(/\u001b\[[\d;]*m/)
  })

  test.skipIf(whyNoPython !== undefined)('are nothing with --quiet', async () => {
    const { code, drawn } = await atTerminal(process.execPath, put('/quiet/', '--quiet'), { env })
    expect({ code, drawn }).toEqual({ code: 0, drawn: '' })
  })

  test('are a plain line now and then in a script', async () => {
    const { stderr } = await run(process.execPath, put('/script/'), { env })
    expect(stderr).toMatch(
      /^(sending {2}\d+ % {2}\S+ [KM]iB of 1\.1 MiB {2}.*KiB\/s {2}.*of 3 documents\n)+3 stored \(1\.1 MiB\)\n$/,
    )
  })

  test.skipIf(whyNoPython !== undefined)('are plain lines at a terminal that has no width', async () => {
    const { code, drawn } = await atTerminal(process.execPath, put('/narrow/'), { env, columns: 0 })
    expect({ code, drawn }).toEqual({
      code: 0,
      drawn: expect.stringMatching(/^(sending {2}\d+ % {2}.*of 3 documents\r\n)+3 stored \(1\.1 MiB\)\r\n$/),
    })
  })

  test.skipIf(whyNoPython !== undefined)('are a bar when they are fetched, too', async () => {
    await service.other.put('/big.txt', 'x'.repeat(300_000))
    const args = [cli, 'get', 'acme', '/big.txt', home.path, '--bwlimit', '100K']
    const { code, drawn } = await atTerminal(process.execPath, args, { env, columns: 70 })
    expect(code).toBe(0)
    expect(drawn).toMatch(/\/big\.txt {2}(█*░* {2})?\d+ % {2}\d+\.\d KiB of 293\.0 KiB/)
  })

  test.skipIf(whyNoPython !== undefined)('are rows when rows are forwarded', async () => {
    const rows = join(home.path, 'rows.json')
    await writeFile(rows, JSON.stringify(Array.from({ length: 10 }, (_, n) => ({ n }))))
    await run(process.execPath, [cli, 'tables', 'create', 'rows', '--type', 'reconcile'], { env })
    const stop = service.service.faults.inject({ kind: 'latency', ms: 200 }, { method: 'POST' })
    const args = [cli, 'forward', 'rows', rows, '--batch', '1']
    const { code, drawn } = await atTerminal(process.execPath, args, { env })
    stop()
    expect(code).toBe(0)
    expect(drawn).toMatch(/rows {2}█+░+ {2}\d0 % {2}\d rows of 10 rows/)
    expect(drawn).toContain('10 assets created')
  })

  const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  test.each(endings)('that %s interrupts leave nothing half there, and say how to go on', async (signal) => {
    for (const name of ['a', 'b']) await service.other.put(`/cut-${signal}/${name}.txt`, 'x'.repeat(300_000))
    const out = join(home.path, 'cut-out')
    const args = [cli, 'get', 'acme', `/cut-${signal}`, out, '--bwlimit', '100K']
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe'] })
    let stderr = ''
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
    const names = (): Promise<string[]> => readdir(join(out, `cut-${signal}`)).catch(() => [])
    await waitUntil('a part of a document to be there', async () => (await names()).length > 0)
    child.kill(signal)
    const [code] = (await once(child, 'close')) as [number | null]
    expect({ code, names: await names() }).toEqual({ code: 1, names: [] })
    expect(stderr).toMatch(
      /interrupted: 0 fetched \(0 bytes\), 2 not begun or not finished; with --skip-existing the same command continues\n$/,
    )
  })
})
