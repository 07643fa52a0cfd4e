import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { LogStream } from '../../src/daemon/log-stream.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'docmount-log-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('lines arrive whole and in order', async () => {
  const path = join(folder, 'log')
  const fd = openSync(path, 'a')
  const stream = new LogStream(fd)
  const lines = Array.from({ length: 1000 }, (_, at) => `line ${at}\n`)
  for (const line of lines) stream.write(line)
  await expect.poll(() => readFileSync(path, 'utf8')).toBe(lines.join(''))
  closeSync(fd)
})

test('a reader that is gone, and a descriptor that is closed, harm nobody', async () => {
  const fd = openSync('/dev/full', 'w')
  const stream = new LogStream(fd)
  stream.write('no room\n')
  await new Promise((resolve) => setTimeout(resolve, 20))
  closeSync(fd)
  stream.write('nobody\n')
  await new Promise((resolve) => setTimeout(resolve, 20))
})

test('a reader that does not read holds nobody up; what did not fit is counted once it reads again', async () => {
  const pipe = join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  // Holds the pipe open and reads only when told.
  const reader = spawn('sh', ['-c', `exec 3<>'${pipe}'; read line; exec cat <&3`], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const fd = openSync(pipe, 'r+')
  const stream = new LogStream(fd)
  const line = `${'x'.repeat(9_999)}\n`
  for (let count = 0; count < 2_000; count++) stream.write(line)
  let text = ''
  reader.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
  reader.stdin.write('\n')
  await expect
    .poll(() => text.slice(-200))
    .toMatch(/"\d+ lines of the log were dropped: nobody read them"\}\n$/)
  expect(text.length).toBeLessThan(8_000_000)
  reader.kill()
  await once(reader, 'close')
  closeSync(fd)
})
