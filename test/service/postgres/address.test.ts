// How a node is told of its database: never by a password that others can read.

import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { startService } from '../../../src/service/index.ts'
import { freshDatabase } from '../../support/postgres.ts'
import { docmount } from '../../support/run-command.ts'

let dataDir: string
let url: string
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'docmount-address-'))
  url = (await freshDatabase()).url
})
afterEach(() => void vi.unstubAllEnvs())
afterAll(() => rm(dataDir, { recursive: true, force: true }))

const password = (): string => readFileSync(process.env['PGPASSFILE']!, 'utf8').trim().split(':').at(-1)!

test('a password in the URL is refused in one sentence, which does not repeat it', async () => {
  for (const wrong of ['postgres://me:secret@h/d', 'postgresql://h/d?user=me&password=secret']) {
    const refusal = await startService({ dataDir, database: { url: wrong } }).catch((error: unknown) => error)
    expect(refusal).toMatchObject({ name: 'StartError', message: expect.stringContaining('PGPASSWORD') })
    expect(String(refusal)).not.toContain('secret')
  }
  await expect(startService({ dataDir, database: { url: 'mysql://h/d' } })).rejects.toThrow('postgres://')
})

test('the password comes from PGPASSFILE, from PGPASSWORD or from a file of its own', async () => {
  const secret = password()
  const file = join(await mkdtemp(join(dataDir, '..', 'docmount-password-')), 'password')
  await writeFile(file, `${secret}\n`, { mode: 0o600 })
  const starts = async (database: { url: string; passwordFile?: string }): Promise<void> =>
    (await startService({ dataDir, database })).close()
  await starts({ url })
  vi.stubEnv('PGPASSFILE', '/nowhere')
  await expect(starts({ url })).rejects.toThrow(/password/)
  await starts({ url, passwordFile: file })
  vi.stubEnv('PGPASSWORD', secret)
  await starts({ url })
})

test('keys and projects are administered through the database', async () => {
  const made = await docmount('projects', 'create', 'invoices', '--database', url)
  expect(made.stdout).toMatch(/^dmk_/)
  const listed = await docmount('keys', 'list', 'invoices', '--database', url)
  expect(listed.stdout).toContain('invoices')
  expect((await docmount('keys', 'list')).error).toContain('--data (or --database)')
})

test('a folder with a database of its own is refused', async () => {
  const own = await mkdtemp(join(tmpdir(), 'docmount-embedded-'))
  await (await startService({ dataDir: own })).close()
  await expect(startService({ dataDir: own, database: { url } })).rejects.toThrow('database of its own')
  await rm(own, { recursive: true, force: true })
})

test.each(['postgres://u@127.0.0.1:99999/d', 'postgres://me:secret'])(
  'what is no URL (%s) is refused in one sentence, which does not repeat it',
  async (wrong) => {
    const refusal = await startService({ dataDir, database: { url: wrong } }).catch((error: unknown) => error)
    expect(refusal).toMatchObject({ name: 'StartError', message: expect.stringContaining('postgres://USER') })
    expect(String(refusal)).not.toContain('secret')
  },
)

test('a file of the password that cannot be read is told before anybody connects', async () => {
  const database = { url, passwordFile: join(dataDir, 'none') }
  const refusal = await startService({ dataDir, database }).catch((error: unknown) => error)
  expect(refusal).toMatchObject({ name: 'StartError', message: expect.stringContaining('cannot be read') })
})

test('a pipe as the file of the password is refused, and not waited for', async () => {
  const pipe = join(await mkdtemp(join(dataDir, '..', 'docmount-password-')), 'pipe')
  execFileSync('mkfifo', ['-m', '600', pipe])
  const refusal = await startService({ dataDir, database: { url, passwordFile: pipe } }).catch(
    (error: unknown) => error,
  )
  expect(refusal).toMatchObject({
    name: 'StartError',
    message: expect.stringContaining(`${pipe}, cannot be read: it is a pipe or a device`),
  })
})

test('a bucket that does not answer is told at the start', async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'id')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret')
  const blobs = { url: 's3://b?endpoint=http://127.0.0.1:9' }
  const refusal = await startService({ database: { url }, blobs }).catch((error: unknown) => error)
  expect(refusal).toMatchObject({ name: 'StartError', message: expect.stringContaining('the bucket') })
})

test('a database that does not answer is told at the start', async () => {
  const nowhere = 'postgres://docmount@127.0.0.1:9/none'
  await expect(startService({ dataDir, database: { url: nowhere } })).rejects.toThrow(/database/)
})
