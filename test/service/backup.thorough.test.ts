// Backups of the service while it runs, and restores of them.

import { withAdmin } from '../../src/service/admin/reach-admin.ts'
import { execFile, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { appendFile, mkdir, mkdtemp, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import Libsql from 'libsql'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { makeBackup } from '../../src/service/backup/make-backup.ts'
import { restoreBackup } from '../../src/service/backup/restore-backup.ts'
import { startService } from '../../src/service/index.ts'
import { run } from '../support/run.ts'
import { type CompiledCommand, compileCommand } from './compiled-command.ts'
import { documentOf, files } from './support.ts'

// Each compiles, starts processes and waits for disks.

let command: CompiledCommand
let folder: string
let dataDir: string
let backup: string

beforeAll(async () => {
  command = await compileCommand()
})
afterAll(() => command.remove())
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'docmount-backup-'))
  dataDir = join(folder, 'data')
  backup = join(folder, 'backup')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** A service whose documents this test remembers by their digests. */
interface Served {
  readonly baseUrl: string
  readonly key: string
}

const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

async function put({ baseUrl, key }: Served, path: string, content: Uint8Array): Promise<void> {
  const answer = await fetch(`${baseUrl}${files(path)}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: JSON.stringify(documentOf(content)),
  })
  expect(answer.status).toBe(201)
}

const remove = async ({ baseUrl, key }: Served, path: string): Promise<void> => {
  await fetch(`${baseUrl}${files(path)}`, { method: 'DELETE', headers: { 'x-api-key': key } })
}

/** Digest by name of what is in the root. */
async function contentsOf({ baseUrl, key }: Served): Promise<Map<string, string>> {
  const answer = await fetch(`${baseUrl}${files('/')}`, { headers: { 'x-api-key': key } })
  const { entries } = (await answer.json()) as { entries: { name: string; url: string }[] }
  const found = new Map<string, string>()
  for (const { name, url } of entries) {
    const content = await fetch(url)
    expect(content.status, name).toBe(200)
    found.set(name, digest(new Uint8Array(await content.arrayBuffer())))
  }
  return found
}

async function read({ baseUrl, key }: Served, name: string): Promise<Uint8Array> {
  const answer = await fetch(`${baseUrl}${files(`/${name}`)}`, { headers: { 'x-api-key': key } })
  const { url } = (await answer.json()) as { url: string }
  return new Uint8Array(await (await fetch(url)).arrayBuffer())
}

async function restored(key: string, from: string = backup): Promise<Map<string, string>> {
  const again = join(folder, 'again')
  await restoreBackup(from, again)
  const service = await startService({ dataDir: again })
  try {
    return await contentsOf({ baseUrl: service.baseUrl, key })
  } finally {
    await service.close()
    await rm(again, { recursive: true })
  }
}

/** Half of them are kept in the database, half as files. */
async function fill(served: Served, count: number): Promise<Map<string, string>> {
  const stored = new Map<string, string>()
  for (let at = 0; at < count; at++) {
    const content = randomBytes(at % 2 === 0 ? 500 : 300_000)
    await put(served, `/${at}.txt`, content)
    stored.set(`${at}.txt`, digest(content))
  }
  return stored
}

const filesIn = async (path: string): Promise<string[]> =>
  (await readdir(path, { recursive: true, withFileTypes: true }).catch(() => []))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

/** Runs the command until it has made `partial` and cannot go on, for one of the contents in `source` is a pipe nobody fills. */
async function killedAtContent(source: string, partial: string, ...args: string[]): Promise<void> {
  const [content] = (await filesIn(join(source, 'blobs'))).filter((file) => /[0-9a-f]{64}$/.test(file))
  await rename(content!, `${content}.aside`)
  await promisify(execFile)('mkfifo', [content!])
  const child = spawn(process.execPath, [join(command.folder, 'dist/cli/main.js'), ...args])
  const ended = once(child, 'close')
  await expect.poll(() => filesIn(partial)).not.toEqual([])
  child.kill('SIGKILL')
  await ended
  await rename(`${content}.aside`, content!)
}

describe('a backup', () => {
  test('of a service that runs is of one moment, however much is stored and deleted meanwhile', async () => {
    const service = await startService({ dataDir, projects: ['acme'] })
    const served = { baseUrl: service.baseUrl, key: service.projects[0]!.apiKey! }
    const before = await fill(served, 10)
    const everStored = new Map(before)
    const making = { isDone: false }
    const writing = (async () => {
      for (let at = 100; !making.isDone; at++) {
        const content = randomBytes(at % 2 === 0 ? 500 : 100_000)
        everStored.set(`${at}.txt`, digest(content))
        await put(served, `/${at}.txt`, content)
        await remove(served, `/${at - 3}.txt`)
      }
    })()
    const manifest = await makeBackup(dataDir, backup)
    making.isDone = true
    await writing
    await service.close()
    const found = await restored(served.key)
    expect(manifest.documents).toBe(found.size)
    for (const [name, content] of before) expect(found.get(name)).toBe(content)
    for (const [name, content] of found) expect(everStored.get(name)).toBe(content)
    expect((await filesIn(backup)).filter((file) => file.includes('/blobs/'))).toHaveLength(manifest.contents)
  })

  test.skipIf(process.getuid?.() !== 0).each([
    ['contents', '3m', 1_000_000],
    ['the database', '300k', 20_000],
  ])(
    'without room for %s says so, as restoring it does, and is made when there is',
    async (_, size, bytes) => {
      const service = await startService({ dataDir, projects: ['acme'] })
      const served = { baseUrl: service.baseUrl, key: service.projects[0]!.apiKey! }
      for (let at = 0; at < 20; at++) await put(served, `/${at}.txt`, randomBytes(bytes))
      const full = join(folder, 'full')
      await mkdir(full)
      await run('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', full])
      const noRoom = {
        name: 'BackupError',
        message: expect.stringContaining(`there is no room for ${full}/`),
      }
      try {
        await expect(makeBackup(dataDir, join(full, 'backup'))).rejects.toMatchObject(noRoom)
        await makeBackup(dataDir, backup)
        await expect(restoreBackup(backup, join(full, 'data'))).rejects.toMatchObject(noRoom)
        expect((await readdir(full)).sort()).toEqual(['backup.partial', 'data.partial'])
        await run('mount', ['-o', 'remount,size=100m', full])
        expect((await makeBackup(dataDir, join(full, 'backup'))).documents).toBe(20)
      } finally {
        await service.close()
        await run('umount', ['-l', full])
      }
    },
  )

  test('that is killed leaves nothing under its name, and is made again', async () => {
    const service = await startService({ dataDir, projects: ['acme'] })
    const served = { baseUrl: service.baseUrl, key: service.projects[0]!.apiKey! }
    const stored = await fill(served, 16)
    await service.close()
    await killedAtContent(dataDir, `${backup}.partial`, 'backup', backup, '--data', dataDir)
    expect(await readdir(folder)).not.toContain('backup')
    await expect(restoreBackup(`${backup}.partial`, join(folder, 'again'))).rejects.toThrow('no whole backup')
    const { stdout } = await command.run('backup', backup, '--data', dataDir)
    expect(stdout).toContain('16 documents in 1 project')
    expect(await readdir(folder)).not.toContain('backup.partial')
    expect(await restored(served.key)).toEqual(stored)
  })

  test('is whole when the service is killed meanwhile', async () => {
    const service = await command.serve('--data', dataDir, '--project', 'acme')
    const served = {
      baseUrl: service.announcement.base_url,
      key: service.announcement.projects[0]!.api_key!,
    }
    const stored = await fill(served, 12)
    const making = command.run('backup', backup, '--data', dataDir)
    await expect
      .poll(async () => (await readdir(folder)).some((name) => name.startsWith('backup')), {
        interval: 1,
        timeout: 20_000,
      })
      .toBe(true)
    await service.end('SIGKILL')
    await making
    expect(await restored(served.key)).toEqual(stored)
  })

  test('names the documents whose content is damaged, keeps them as they are, and all others', async () => {
    const service = await startService({ dataDir, projects: ['acme'] })
    const served = { baseUrl: service.baseUrl, key: service.projects[0]!.apiKey! }
    const stored = await fill(served, 8)
    await service.close()
    const contents = (await filesIn(join(dataDir, 'blobs'))).filter((file) => /[0-9a-f]{64}$/.test(file))
    const nameOf = (sha256: string): string => [...stored].find(([, digest]) => digest === sha256)![0]
    const [longer, changed, missing] = contents as [string, string, string]
    await appendFile(longer, 'x')
    await writeFile(changed, 'damage', { flag: 'r+' })
    await rm(missing)
    const database = new Libsql(join(dataDir, 'service.db'))
    const small = stored.get('0.txt')!
    database.prepare('update small_contents set bytes = ? where sha256 = ?').run(Buffer.from('damage'), small)
    database.close()

    const damaged = [longer, changed, missing].map((file) => nameOf(basename(file)))
    const made = await command.run('backup', backup, '--data', dataDir).catch((error: unknown) => error)
    expect(made).toMatchObject({ code: 1, stdout: expect.stringContaining('8 documents in 1 project') })
    const { stderr } = made as { stderr: string }
    for (const name of ['0.txt', ...damaged]) expect(stderr).toContain(`acme/${name}`)
    expect(stderr.match(/acme\//g)).toHaveLength(4)
    expect(stderr).toContain(`acme/${damaged[2]} (cannot be read)`)

    const again = join(folder, 'again')
    const back = await command.run('restore', backup, '--data', again).catch((error: unknown) => error)
    expect(back).toMatchObject({ code: 1, stderr })
    const kept = join(again, 'blobs', basename(dirname(changed)), basename(changed))
    expect(await readFile(kept)).toEqual(await readFile(changed))
    const restoredService = await startService({ dataDir: again })
    const whole = [...stored].filter(([name]) => name !== '0.txt' && !damaged.includes(name))
    for (const [name, expected] of whole)
      expect(digest(await read({ ...served, baseUrl: restoredService.baseUrl }, name))).toBe(expected)
    await restoredService.close()
  })

  test('to a place where another one is on its way is refused, and that one is whole', async () => {
    const service = await startService({ dataDir, projects: ['acme'] })
    const served = { baseUrl: service.baseUrl, key: service.projects[0]!.apiKey! }
    const stored = await fill(served, 8)
    await service.close()
    const outcomes = await Promise.allSettled([makeBackup(dataDir, backup), makeBackup(dataDir, backup)])
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    const refused = outcomes.find((outcome) => outcome.status === 'rejected')!
    expect(refused.reason).toMatchObject({
      name: 'BackupError',
      message: expect.stringContaining('on its way'),
    })
    expect(await readdir(backup)).not.toContain('service.lock')
    expect(await restored(served.key)).toEqual(stored)
  })

  test('never takes the place of anything', async () => {
    const service = await startService({ dataDir, projects: ['acme'] })
    await service.close()
    await expect(makeBackup(dataDir, dataDir)).rejects.toThrow('is there already')
    await rm(`${backup}.partial`, { recursive: true, force: true })
    await makeBackup(dataDir, `${backup}.partial`)
    await writeFile(join(`${backup}.partial`, 'precious'), 'x')
    await expect(makeBackup(dataDir, backup)).rejects.toThrow('precious')
  })
})

describe('a restore', () => {
  test('is the one thing that takes a backup: as a data folder, which changes, it is refused untouched', async () => {
    const service = await startService({ dataDir, projects: ['acme'] })
    const served = { baseUrl: service.baseUrl, key: service.projects[0]!.apiKey! }
    const stored = await fill(served, 4)
    await makeBackup(dataDir, backup)
    await service.close()
    const before = await readdir(backup, { recursive: true })
    const refusal = 'is a backup: docmount restore makes a data folder of it'
    await expect(startService({ dataDir: backup })).rejects.toThrow(refusal)
    await expect(
      withAdmin({ dataDir: backup }, async (admin) => void (await admin.listKeys())),
    ).rejects.toThrow(refusal)
    expect(await readdir(backup, { recursive: true })).toEqual(before)
    expect(await restored(served.key)).toEqual(stored)
  })

  test('refuses a damaged or incomplete backup, and a folder in use', async () => {
    const service = await startService({ dataDir, projects: ['acme'] })
    await fill({ baseUrl: service.baseUrl, key: service.projects[0]!.apiKey! }, 2)
    await service.close()
    await makeBackup(dataDir, backup)
    await expect(restoreBackup(backup, dataDir)).rejects.toThrow('is there already')
    const again = join(folder, 'again')
    for (const file of [join(backup, 'service.db'), ...(await filesIn(join(backup, 'blobs')))]) {
      const content = await readFile(file)
      await appendFile(file, 'x')
      await expect(restoreBackup(backup, again)).rejects.toThrow('is damaged')
      await rm(file)
      await expect(restoreBackup(backup, again)).rejects.toThrow()
      await writeFile(file, content)
      expect(await readdir(folder)).not.toContain('again')
    }
    const manifest = join(backup, 'backup.json')
    const whole = await readFile(manifest)
    for (const text of ['', '{"format": 1, "made_a', 'null', '{}', '{"format": 1}']) {
      await writeFile(manifest, text)
      await expect(restoreBackup(backup, again)).rejects.toThrow('is damaged: its backup.json is not whole')
    }
    await writeFile(manifest, '{"format": 2}')
    await expect(restoreBackup(backup, again)).rejects.toThrow('does not know: format 2')
    await writeFile(manifest, whole)
    await restoreBackup(backup, again)
  })

  test('that is killed leaves no data folder, and is done again', async () => {
    const service = await startService({ dataDir, projects: ['acme'] })
    const served = { baseUrl: service.baseUrl, key: service.projects[0]!.apiKey! }
    const stored = await fill(served, 16)
    await service.close()
    await makeBackup(dataDir, backup)
    const again = join(folder, 'again')
    await killedAtContent(backup, `${again}.partial`, 'restore', backup, '--data', again)
    expect(await readdir(folder)).not.toContain('again')
    expect(await restored(served.key)).toEqual(stored)
  })
})
