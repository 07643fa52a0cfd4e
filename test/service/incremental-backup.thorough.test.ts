// Backups beside one another, and those a service makes of itself.

import { randomBytes } from 'node:crypto'
import { appendFile, mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { makeBackup } from '../../src/service/backup/make-backup.ts'
import { restoreBackup } from '../../src/service/backup/restore-backup.ts'
import { StartError, startService } from '../../src/service/index.ts'
import { type CompiledCommand, compileCommand } from './compiled-command.ts'
import { type TestService, startTestService } from './support.ts'

let folder: string
let backups: string
let service: TestService | undefined

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'docmount-incremental-'))
  backups = join(folder, 'backups')
  await mkdir(backups)
})
afterEach(async () => {
  await service?.close()
  service = undefined
  await rm(folder, { recursive: true, force: true })
})

const dataDir = (): string => join(folder, 'data')

/** Of its own database, whatever engine the run is for. */
async function start(options: Parameters<typeof startTestService>[0] = {}): Promise<TestService> {
  await mkdir(dataDir(), { recursive: true })
  service = await startTestService({ database: undefined, dataDir: dataDir(), ...options } as never)
  return service
}

const filesBelow = async (path: string): Promise<string[]> =>
  (await readdir(path, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => file.includes('/blobs/'))

const nodesOf = async (path: string): Promise<Set<number>> =>
  new Set(await Promise.all((await filesBelow(path)).map(async (file) => (await stat(file)).ino)))

/** Bytes of `/name` as a service over what was restored gives them. */
async function restoredBytes(backup: string, names: readonly string[], key: string): Promise<Buffer[]> {
  const again = join(folder, 'again')
  await restoreBackup(backup, again)
  const restored = await startService({ dataDir: again })
  try {
    return await Promise.all(
      names.map(async (name) => {
        const answer = await fetch(
          `${restored.baseUrl}/projects/acme/files?path=${encodeURIComponent(name)}`,
          {
            headers: { 'x-api-key': key },
          },
        )
        const { url } = (await answer.json()) as { url: string }
        return Buffer.from(await (await fetch(url)).arrayBuffer())
      }),
    )
  } finally {
    await restored.close()
    await rm(again, { recursive: true })
  }
}

describe('a backup beside another', () => {
  const [one, two] = [randomBytes(300_000), randomBytes(300_000)]

  test('has the same files for the contents that both have, and is whole without the other', async () => {
    const started = await start()
    const { key } = started
    await started.put('/one', one)
    await makeBackup(dataDir(), join(backups, 'monday'))
    await started.put('/two', two)
    const made = await makeBackup(dataDir(), join(backups, 'tuesday'))
    expect(made).toMatchObject({ contents: 2, linked: 1 })
    const [monday, tuesday] = [
      await nodesOf(join(backups, 'monday')),
      await nodesOf(join(backups, 'tuesday')),
    ]
    expect([...monday].filter((node) => tuesday.has(node))).toHaveLength(1)
    expect(tuesday.size).toBe(2)
    await rm(join(backups, 'monday'), { recursive: true })
    const bytes = await restoredBytes(join(backups, 'tuesday'), ['/one', '/two'], key)
    expect(bytes.map((each, at) => each.equals([one, two][at]!))).toEqual([true, true])
  })

  test('copies anew what is damaged in the other', async () => {
    const started = await start()
    const { key } = started
    await started.put('/one', one)
    await makeBackup(dataDir(), join(backups, 'monday'))
    const [content] = await filesBelow(join(backups, 'monday'))
    await appendFile(content!, 'x')
    const made = await makeBackup(dataDir(), join(backups, 'tuesday'))
    expect([made.linked, made.damaged]).toEqual([undefined, undefined])
    const [bytes] = await restoredBytes(join(backups, 'tuesday'), ['/one'], key)
    expect(bytes!.equals(one)).toBe(true)
  })

  test('takes nothing from a folder that is no whole backup', async () => {
    const started = await start()
    await started.put('/one', one)
    await makeBackup(dataDir(), join(backups, 'monday'))
    await rm(join(backups, 'monday/backup.json'))
    expect((await makeBackup(dataDir(), join(backups, 'tuesday'))).linked).toBeUndefined()
  })
})

describe('a service that makes backups of itself', () => {
  const moments = async (): Promise<string[]> =>
    (await readdir(backups)).filter((name) => !name.endsWith('.partial')).sort()

  test('makes one at once and others in time, keeps the latest, and never more than it should', async () => {
    const content = randomBytes(300_000)
    const started = await start({ backups: { to: backups, everyMs: 1_000, keep: 2 } })
    await started.put('/one', content)
    const seen = new Set<string>()
    await vi.waitFor(
      async () => {
        for (const name of await moments()) seen.add(name)
        expect(seen.size).toBeGreaterThan(3)
      },
      { timeout: 100_000, interval: 100 },
    )
    const { key } = started
    await started.close()
    service = undefined
    const kept = await moments()
    expect(kept.length).toBeLessThanOrEqual(3)
    expect(kept.every((name) => /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ$/.test(name))).toBe(true)
    const latest = kept.at(-1)!
    const manifest = JSON.parse(await readFile(join(backups, latest, 'backup.json'), 'utf8')) as object
    expect(manifest).toMatchObject({ documents: 1, contents: 1, linked: 1 })
    const [bytes] = await restoredBytes(join(backups, latest), ['/one'], key)
    expect(bytes!.equals(content)).toBe(true)
  })

  test('makes none at a start while the latest is young, and leaves what others put there', async () => {
    await writeFile(join(backups, 'notes.txt'), 'mine')
    const first = await start({ backups: { to: backups, everyMs: 3_600_000, keep: 1 } })
    await vi.waitFor(async () => expect(await moments()).toHaveLength(2), { timeout: 100_000 })
    const before = await moments()
    await first.close()
    const second = await start({
      backups: { to: backups, everyMs: 3_600_000, keep: 1 },
      metrics: { host: '127.0.0.1', port: 0 },
    })
    const backupTime = async (): Promise<number> => {
      const text = await (await fetch(second.service.metricsUrl!)).text()
      return Number(/^docmount_backup_timestamp_seconds\{.*\} (\d+)/m.exec(text)?.[1] ?? 0)
    }
    // Known: it has looked, and decided.
    await vi.waitFor(async () => expect(await backupTime()).toBeGreaterThan(1.7e9), { timeout: 100_000 })
    expect(await moments()).toEqual(before)
  })

  test('begins anew what a kill left, and removes the rest of it', async () => {
    await mkdir(join(backups, '2026-01-02T03-04-05Z.partial'))
    await writeFile(join(backups, '2026-01-02T03-04-05Z.partial/service.db'), 'half')
    await start({ backups: { to: backups, everyMs: 3_600_000, keep: 1 } })
    await vi.waitFor(async () => expect(await moments()).toHaveLength(1), { timeout: 100_000 })
    expect((await readdir(backups)).filter((name) => name.startsWith('2026-01-02'))).toEqual([])
  })

  test('says why none is made, and goes on serving', async () => {
    await writeFile(join(folder, 'no-folder'), '')
    const started = await start({
      backups: { to: join(folder, 'no-folder/backups'), everyMs: 3_600_000, keep: 1 },
      metrics: { host: '127.0.0.1', port: 0 },
    })
    await vi.waitFor(
      async () =>
        expect(await (await fetch(started.service.metricsUrl!)).text()).toMatch(
          /^docmount_backup_failures\{.*\} [1-9]/m,
        ),
      { timeout: 100_000 },
    )
    expect((await started.put('/one', 'content')).status).toBe(201)
  })

  test('on PostgreSQL is refused: its data folder is not all there is', async () => {
    const database = { url: 'postgres://docmount@127.0.0.1:1/none' }
    const plan = { to: backups, everyMs: 1_000, keep: 1 }
    await expect(startService({ database, dataDir: dataDir(), backups: plan })).rejects.toThrow(StartError)
  })
})

describe('docmount', () => {
  let command: CompiledCommand
  beforeAll(async () => {
    command = await compileCommand()
  })
  afterAll(() => command.remove())

  test('serve --backup-to makes backups, which docmount restore takes', async () => {
    const served = await command.serve(
      '--data',
      dataDir(),
      '--project',
      'acme',
      '--backup-to',
      backups,
      '--backup-every',
      '1s',
      '--backup-keep',
      '5',
    )
    await vi.waitFor(async () => expect((await readdir(backups)).length).toBeGreaterThan(0), {
      timeout: 100_000,
    })
    await vi.waitFor(() => expect(served.log()).toContain('a backup was made'), { timeout: 100_000 })
    await served.end('SIGTERM')
    const [name] = (await readdir(backups)).filter((each) => !each.endsWith('.partial'))
    const { stdout } = await command.run('restore', join(backups, name!), '--data', join(folder, 'again'))
    expect(stdout).toContain('0 documents in 1 project, as of 2')
  })

  test('backup says how much of it was in an earlier one', async () => {
    const started = await start()
    await started.put('/one', randomBytes(300_000))
    await command.run('backup', join(backups, 'monday'), '--data', dataDir())
    const { stdout } = await command.run('backup', join(backups, 'tuesday'), '--data', dataDir())
    expect(stdout).toContain('; 1 of 1 contents were in an earlier backup)')
    expect(await filesBelow(join(backups, 'tuesday'))).toHaveLength(1)
  })
})
