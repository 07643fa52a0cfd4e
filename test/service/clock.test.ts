// The machine's clock is set, by hours, while the service runs.

import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type CompiledCommand, type ServeProcess, compileCommand } from './compiled-command.ts'
import { documentOf, files } from './support.ts'

const hourMs = 3_600_000

let command: CompiledCommand
let service: ServeProcess
let dataDir: string
let clock: string

beforeAll(async () => {
  command = await compileCommand()
  dataDir = join(command.folder, 'data')
  clock = join(command.folder, 'clock')
  await setClock(0)
  service = await command.serveWith(
    {
      environment: {
        CLOCK_OFFSET_FILE: clock,
        NODE_OPTIONS: `--import=${new URL('set-clock.mjs', import.meta.url).href}`,
      },
    },
    '--data',
    dataDir,
    '--project',
    'acme',
  )
})
afterAll(async () => {
  await service.end('SIGTERM')
  await command.remove()
})
beforeEach(() => setClock(0))

/** The service's clock is so many hours off from now on. */
async function setClock(hours: number): Promise<void> {
  await writeFile(`${clock}.new`, String(hours * hourMs))
  await rename(`${clock}.new`, clock)
}

interface Stored {
  readonly modified_at: string
  readonly url: string
}

function call(method: string, path: string, body?: object, key?: string): Promise<Response> {
  return fetch(service.announcement.base_url + files(path), {
    method,
    headers: {
      'content-type': 'application/json',
      'x-api-key': key ?? service.announcement.projects[0]!.api_key!,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

async function put(path: string): Promise<Stored> {
  const answer = await call('PUT', path, documentOf(path))
  expect(answer.status).toBe(201)
  return (await answer.json()) as Stored
}

test('the clock of this test is the service’s', async () => {
  const before = Date.parse((await put('/now.txt')).modified_at)
  await setClock(3)
  expect(Date.parse((await put('/later.txt')).modified_at) - before).toBeGreaterThanOrEqual(3 * hourMs)
})

test('modified_at never goes back: what was stored later is later', async () => {
  const times: string[] = []
  for (const hours of [0, 5, -20, -20, 1, 30, 0]) {
    await setClock(hours)
    if (times.length > 0) expect((await call('DELETE', '/again.txt')).status).toBe(204)
    times.push((await put('/again.txt')).modified_at)
  }
  expect(times).toEqual([...new Set(times)].sort())
})

test('a folder that is deleted and made again has what is new, and nothing else', async () => {
  for (const hours of [40, -40]) {
    await setClock(hours)
    await put(`/folder/of ${hours}.txt`)
    await call('DELETE', '/folder')
    await setClock(hours - 10)
    await put('/folder/new.txt')
    const { entries } = (await (await call('GET', '/folder')).json()) as { entries: { name: string }[] }
    expect(entries.map(({ name }) => name)).toEqual(['new.txt'])
    expect((await call('DELETE', '/folder')).status).toBe(204)
  }
})

test('a link is good for what is left of its time by the clock as it is, a new one at once', async () => {
  const { url } = await put('/linked.txt')
  const status = async (link: string): Promise<number> => (await fetch(link)).status
  await setClock(-5)
  expect(await status(url)).toBe(200)
  await setClock(1)
  expect(await status(url)).toBe(403)
  for (const hours of [1, -8, 8]) {
    await setClock(hours)
    const { url: fresh } = (await (await call('GET', '/linked.txt')).json()) as Stored
    expect([hours, await status(fresh)]).toEqual([hours, 200])
  }
})

test('a key ends by the clock as it is', async () => {
  const made = await command.run('keys', 'create', 'acme', '--expires', '2h', '--data', dataDir)
  const status = async (): Promise<number> => (await call('GET', '/', undefined, made.stdout.trim())).status
  const seen: number[] = []
  for (const hours of [0, 3, -3]) {
    await setClock(hours)
    seen.push(await status())
  }
  expect(seen).toEqual([200, 401, 200])
})

test('the last use of a key is noted by the clock as it is, also when that was set back', async () => {
  const lastUse = async (): Promise<number> => {
    expect((await call('GET', '/')).status).toBe(200)
    const { stdout } = await command.run('keys', 'list', 'acme', '--data', dataDir, '--json')
    const [first] = JSON.parse(stdout) as { last_used_at: string }[]
    return Math.round((Date.parse(first!.last_used_at) - Date.now()) / hourMs)
  }
  for (const hours of [6, -6]) {
    await setClock(hours)
    await expect.poll(lastUse, { interval: 200 }).toBe(hours)
  }
})
