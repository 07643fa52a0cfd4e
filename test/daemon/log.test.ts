import { mkdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { LogFile } from '../../src/daemon/log-file.ts'
import { humanLine, openLog } from '../../src/daemon/log.ts'
import { redact } from '../../src/redact.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

let temporary: TemporaryFolder
beforeEach(async () => {
  temporary = await makeTemporaryFolder()
})
afterEach(() => temporary.remove())

test('signatures and keys never reach the file, whatever field they slipped into', async () => {
  const file = join(temporary.path, 'a.log')
  const log = openLog({ file })
  const url = 'https://blobs.example/d/1?signature=SECRET&expires=9'
  log.warn({ url, nested: { text: `see ${url}.` }, error: new Error(`GET ${url} failed`) }, `fetched ${url}`)
  log.info({ headers: { 'X-API-Key': 'SECRET' }, text: 'x-api-key: SECRET' }, 'sent {"x-api-key":"SECRET"}')
  const written = await readFile(file, 'utf8')
  expect(written).not.toContain('SECRET')
  expect(written).toContain('https://blobs.example/d/1?[redacted]')
  for (const line of written.trim().split('\n')) expect(() => JSON.parse(line) as unknown).not.toThrow()
})

test('text without secrets stays as it is', () => {
  const text = '{"path":"/a?b.txt","url":"http://127.0.0.1:1/api","msg":"what? http://x/ works"}'
  expect(redact(text)).toBe(text)
})

test('debug lines are written only when asked for', async () => {
  const [quiet, verbose] = [join(temporary.path, 'quiet'), join(temporary.path, 'verbose')]
  openLog({ file: quiet }).debug({}, 'detail')
  openLog({ file: verbose, isVerbose: true }).debug({}, 'detail')
  expect(await readFile(quiet, 'utf8')).toBe('')
  expect(await readFile(verbose, 'utf8')).toContain('detail')
})

test('a full log file is kept once and a new one begins', async () => {
  const path = join(temporary.path, 'a.log')
  const log = new LogFile(path, { limitBytes: 10 })
  for (const line of ['first.....\n', 'second....\n', 'third\n']) log.write(line)
  log.close()
  expect(await readFile(path, 'utf8')).toBe('third\n')
  expect(await readFile(`${path}.1`, 'utf8')).toBe('second....\n')
})

test('of full log files as many are kept as are asked for', async () => {
  const path = join(temporary.path, 'a.log')
  const log = new LogFile(path, { limitBytes: 1, keep: 2 })
  for (const line of ['1\n', '2\n', '3\n', '4\n']) log.write(line)
  log.close()
  const kept = await Promise.all(['', '.1', '.2'].map((end) => readFile(path + end, 'utf8')))
  expect(kept).toEqual(['4\n', '3\n', '2\n'])
  await expect(readFile(`${path}.3`)).rejects.toThrow('ENOENT')
})

test('a full log file that cannot be turned over goes on, and is turned over when it can be', async () => {
  const path = join(temporary.path, 'a.log')
  await mkdir(join(`${path}.1`, 'in-the-way'), { recursive: true })
  const log = new LogFile(path, { limitBytes: 1 })
  for (const line of ['1\n', '2\n', '3\n']) log.write(line)
  expect(await readFile(path, 'utf8')).toBe('1\n2\n3\n')
  await rm(`${path}.1`, { recursive: true })
  log.write('4\n')
  log.close()
  expect([await readFile(path, 'utf8'), await readFile(`${path}.1`, 'utf8')]).toEqual(['4\n', '1\n2\n3\n'])
})

test('a log file that is removed or moved begins anew, as soon as it can', async () => {
  const folder = join(temporary.path, 'logs')
  await mkdir(folder)
  const path = join(folder, 'a.log')
  const log = new LogFile(path)
  const isThere = async (): Promise<string> => {
    log.write('line\n')
    return readFile(path, 'utf8').catch(() => '')
  }
  await rm(path)
  await expect.poll(isThere).toContain('line')
  await rename(path, `${path}.moved`)
  await expect.poll(isThere).toContain('line')
  await rm(folder, { recursive: true })
  expect(await isThere()).toBe('')
  await mkdir(folder)
  await expect.poll(isThere).toContain('line')
  log.close()
})

test('a log file goes on where an earlier run ended', async () => {
  const path = join(temporary.path, 'a.log')
  for (const line of ['one\n', 'two\n']) {
    const log = new LogFile(path)
    log.write(line)
    log.close()
  }
  expect(await readFile(path, 'utf8')).toBe('one\ntwo\n')
})

test('writing into a closed or full file throws nothing', () => {
  const log = new LogFile(join(temporary.path, 'a.log'))
  log.close()
  expect(() => log.write('late\n')).not.toThrow()
})

test('the human form shows time, level, message and fields', () => {
  const line = JSON.stringify({
    level: 'warn',
    time: '2026-01-02T03:04:05.678Z',
    path: '/a',
    n: { b: 1 },
    msg: 'hm',
  })
  expect(humanLine(line)).toBe('03:04:05 warn  hm  path=/a  n={"b":1}\n')
})
