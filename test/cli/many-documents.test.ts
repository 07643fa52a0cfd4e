// `docmount put` and `docmount get` of many documents, run in this process against the reference service.

import { mkdir, readFile, readdir, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { startGate } from '../support/gate.ts'
import { docmount } from '../support/run-command.ts'
import { project, startTestService, type TestService } from '../support/service.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { waitUntil } from '../support/wait-until.ts'

let service: TestService
let temporary: TemporaryFolder
let folder: string

beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())

beforeEach(async () => {
  temporary = await makeTemporaryFolder()
  folder = join(temporary.path, 'in')
  await mkdir(folder)
  vi.stubEnv('DOCMOUNT_BASE_URL', service.baseUrl)
  vi.stubEnv('DOCMOUNT_API_KEY', service.apiKey)
  vi.stubEnv('XDG_CONFIG_HOME', join(temporary.path, 'config'))
  service.service.clearCalls()
})
afterEach(async () => {
  service.service.faults.clear()
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  await temporary.remove()
})

/** As many documents of 5 bytes in `folder`. */
async function documents(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await writeFile(join(folder, `${n}.txt`), `doc ${n % 10}`)
}

const puts = (): number => service.service.calls.filter(({ method }) => method === 'PUT').length

describe('put of many', () => {
  test('sends eight at a time and says what was done, in one line', async () => {
    await documents(30)
    await using gate = await startGate(() => service.service.port)
    vi.stubEnv('DOCMOUNT_BASE_URL', gate.baseUrl)
    gate.decide = ({ method }) => (method === 'PUT' ? 'keep' : 'pass')
    const running = docmount('put', project, folder, '/many/')
    await waitUntil('eight uploads are under way', () => gate.kept === 8)
    gate.decide = () => 'pass'
    gate.release()
    const outcome = await running
    expect(outcome).toMatchObject({
      exitCode: 0,
      stderr: expect.stringMatching(/(^|\n)30 stored \(150 bytes\)\n$/),
    })
    expect(await service.other.bytes('/many/in/29.txt')).toEqual(Buffer.from('doc 9'))
  })

  test('goes on behind what is refused or fails, names it, and fails itself', async () => {
    await documents(3)
    await writeFile(join(folder, 'a.zip'), 'PK')
    await writeFile(join(folder, 'b.zip'), 'PK')
    await symlink(folder, join(folder, 'loop'))
    service.service.faults.inject({ kind: 'status', status: 400 }, { method: 'PUT', path: '/mixed/in/1.txt' })
    service.service.faults.inject({ kind: 'status', status: 500 }, { method: 'PUT', path: '/mixed/in/2.txt' })
    const outcome = await docmount('put', project, folder, '/mixed/')
    expect(outcome.exitCode).toBe(1)
    expect(outcome.stderr).toContain('docmount: /mixed/in/a.zip: a.zip: the service does not take zip files')
    expect(outcome.stderr).toContain(`leads back to a folder it lies in`)
    expect(outcome.error).toMatch(
      /^1 stored \(5 bytes\), 3 refused \(2 × the service does not take zip files \(archives\), 1 × .*\), 2 failed \(/,
    )
    expect((await docmount('ls', project, '/mixed/in')).stdout).toBe('0.txt\n')
  })

  test('with --skip-existing goes on where it stopped, and leaves alone what differs', async () => {
    await documents(10)
    service.service.faults.inject({ kind: 'status', status: 503 }, { method: 'PUT', path: '/again/in/7.txt' })
    const first = await docmount('put', project, folder, '/again/')
    expect(first).toMatchObject({ exitCode: 75 })
    service.service.faults.clear()
    service.service.clearCalls()
    const second = await docmount('put', project, folder, '/again/', '--skip-existing')
    expect(second).toMatchObject({
      exitCode: 0,
      stderr: expect.stringMatching(/(^|\n)1 stored \(5 bytes\), 9 skipped\n$/),
    })
    expect(puts()).toBe(1)

    await writeFile(join(folder, '1.txt'), 'longer than it was')
    await utimes(join(folder, '2.txt'), new Date(), new Date(Date.now() + 60_000))
    const third = await docmount('put', project, folder, '/again/', '--skip-existing')
    expect(third.error).toMatch(/^0 stored \(0 bytes\), 8 skipped, 2 refused \(2 × .*exists/)
    const fourth = await docmount(
      'put',
      project,
      folder,
      '/again/',
      '--skip-existing',
      '--replace',
      '--quiet',
    )
    expect(fourth).toMatchObject({ exitCode: 0, stderr: '' })
    expect(await service.other.bytes('/again/in/1.txt')).toEqual(Buffer.from('longer than it was'))
  })

  test('stops at once when the key is refused', async () => {
    await documents(40)
    vi.stubEnv('DOCMOUNT_API_KEY', 'no-such-key')
    const outcome = await docmount('put', project, folder, '/key/')
    expect(outcome.exitCode).toBe(1)
    expect(outcome.error).toMatch(/not begun or not finished/)
    expect(puts()).toBeLessThan(20)
  })

  test('takes a folder under its own name however it is called', async () => {
    await documents(1)
    await mkdir(join(folder, 'sub'))
    for (const [at, local] of Object.entries({ '/dot': `${folder}/.`, '/up': `${folder}/sub/..` })) {
      expect(await docmount('put', project, local, `${at}/`)).toMatchObject({ exitCode: 0 })
      expect((await docmount('ls', project, `${at}/in`)).stdout).toBe('0.txt\n')
    }
  })

  test('says of a name that is no UTF-8, and of a link that leads nowhere, what is wrong with it', async () => {
    await documents(1)
    await writeFile(
      Buffer.concat([Buffer.from(`${folder}/caf`), Buffer.from([0xe9]), Buffer.from('.txt')]),
      'x',
    )
    await symlink('nowhere', join(folder, 'dead.txt'))
    const outcome = await docmount('put', project, folder, '/names/')
    expect(outcome).toMatchObject({
      exitCode: 1,
      error: expect.stringMatching(/^1 stored \(5 bytes\), 2 failed \(/),
    })
    expect(outcome.stderr).toContain('caf\ufffd.txt: its name is not UTF-8, which the service takes')
    expect(outcome.stderr).toContain('dead.txt: the link leads nowhere')
  })

  test('never puts two files under one name', async () => {
    await mkdir(join(temporary.path, 'other'))
    for (const name of ['in', 'other']) await writeFile(join(temporary.path, name, 'x.txt'), name)
    const files = ['in', 'other'].map((name) => join(temporary.path, name, 'x.txt'))
    const outcome = await docmount('put', project, ...files, '/one/', '--replace')
    expect(outcome.error).toMatch(/would both become \/one\/x\.txt$/)
    expect(puts()).toBe(0)
  })
})

describe('get of a folder', () => {
  beforeEach(async () => {
    await service.other.put('/tree/a.txt', 'a')
    await service.other.put('/tree/deep/er/b.txt', 'bb')
    for (let n = 0; n < 20; n++) await service.other.put(`/tree/deep/${n}.txt`, `doc ${n % 10}`)
  })
  afterEach(() => service.other.delete('/tree'))

  test('fetches everything in it under its own name', async () => {
    const outcome = await docmount('get', project, '/tree/', temporary.path)
    expect(outcome).toMatchObject({
      exitCode: 0,
      stderr: expect.stringMatching(/(^|\n)22 fetched \(103 bytes\)\n$/),
    })
    expect(await readFile(join(temporary.path, 'tree/deep/er/b.txt'), 'utf8')).toBe('bb')
    await docmount('get', project, '/', join(temporary.path, 'all'))
    expect(await readFile(join(temporary.path, 'all', project, 'tree/a.txt'), 'utf8')).toBe('a')
  })

  test('with --skip-existing fetches only what is missing or differs', async () => {
    const out = join(temporary.path, 'out')
    service.service.faults.inject({ kind: 'status', status: 400 }, { endpoint: 'download', path: /7\.txt/ })
    const first = await docmount('get', project, '/tree', out)
    expect(first.exitCode).toBe(1)
    expect(first.error).toMatch(/^20 fetched \(93 bytes\), 2 refused \(/)
    const names = await readdir(join(out, 'tree/deep'))
    expect(names.filter((name) => name.includes('7') || name.includes('part'))).toEqual([])
    service.service.faults.clear()

    await writeFile(join(out, 'tree/a.txt'), 'b')
    await service.other.put('/tree/deep/1.txt', 'DOC 1')
    const second = await docmount('get', project, '/tree', out, '--skip-existing')
    expect(second).toMatchObject({
      exitCode: 0,
      stderr: expect.stringMatching(/(^|\n)4 fetched \(16 bytes\), 18 skipped\n$/),
    })
    expect(await readFile(join(out, 'tree/a.txt'), 'utf8')).toBe('a')
    expect(await readFile(join(out, 'tree/deep/1.txt'), 'utf8')).toBe('DOC 1')
  })

  test('goes on behind a place that cannot be written', async () => {
    const out = join(temporary.path, 'out')
    await mkdir(join(out, 'tree'), { recursive: true })
    await writeFile(join(out, 'tree/deep'), 'a file where a folder belongs')
    const outcome = await docmount('get', project, '/tree', out)
    expect(outcome.exitCode).toBe(1)
    expect(outcome.error).toMatch(/^1 fetched \(1 byte\), 1 failed \(1 × .*EEXIST/)
    expect(await readFile(join(out, 'tree/a.txt'), 'utf8')).toBe('a')
  })

  test('does not fit standard output', async () => {
    expect(await docmount('get', project, '/tree', '-')).toMatchObject({ exitCode: 2 })
  })
})

test('--bwlimit holds for all documents together, both ways', async () => {
  await documents(0)
  for (const name of ['a.txt', 'b.txt', 'c.txt']) await writeFile(join(folder, name), 'x'.repeat(60_000))
  // Bounds from below only: a busy machine is slower, never faster than the limit.
  const before = performance.now()
  await docmount('put', project, folder, '/slow/', '--bwlimit', '200K')
  const between = performance.now()
  // In base64 it is a third more; the last piece does not wait for its own time.
  expect(between - before).toBeGreaterThan(1000)
  await docmount('get', project, '/slow', temporary.path, '--bwlimit', '200K')
  expect(performance.now() - between).toBeGreaterThan(750)
  expect((await stat(join(temporary.path, 'slow/in/c.txt'))).size).toBe(60_000)
})
