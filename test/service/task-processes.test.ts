// Processes that do one task at a time each: the end of one is told to its task, whenever and however it comes.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { ProcessEndedError, TaskProcesses } from '../../src/service/tables/task-processes.ts'

/** The source of a process that does what its task says. */
const program = `
  import { readSync } from 'node:fs'
  const kept = []
  process.on('disconnect', () => process.exit())
  process.on('SIGTERM', () => {})
  process.on('message', (task) => {
    if (task === 'exit') process.exit(7)
    if (task === 'throw') setImmediate(() => { throw new TypeError('a bug') })
    if (task === 'refuse') process.send({ error: { message: 'no', statusCode: 503 } })
    if (task === 'which') process.send({ result: process.pid })
    if (task === 'spin') for (;;);
    if (task === 'fill') for (;;) kept.push(JSON.parse('[' + '{},'.repeat(1e6) + '{}]'))
    if (task === 'read') {
      const bytes = new Uint8Array(10)
      process.send({ result: readSync(0, bytes, 0, 10, null) })
    }
  })`

let folder: string
let processes: TaskProcesses<string, number>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'docmount-processes-'))
})
afterAll(() => rm(folder, { recursive: true }))
afterEach(() => processes.close())

async function start(before = ''): Promise<void> {
  const file = join(folder, 'program.mjs')
  await writeFile(file, `${before}\n${program}`)
  processes = new TaskProcesses(pathToFileURL(file), { heapBytes: 64 * 2 ** 20, idleMs: 60_000 })
}
const never = new AbortController().signal

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test.each([
  ['throws', "throw new Error('it cannot begin')", /exit 1.*it cannot begin/s],
  ['exits', 'process.exit(7)', /exit 7/],
])('that cannot begin fail their tasks: one that %s', async (_, before, message) => {
  await start(before)
  for (let turn = 0; turn < 3; turn++) {
    const run = processes.run('which', never)
    await expect(run).rejects.toMatchObject({
      name: 'ProcessEndedError',
      message: expect.stringMatching(message),
      hasNoMemory: false,
    })
  }
})

test('whose program is gone fail their tasks', async () => {
  await start()
  await rm(join(folder, 'program.mjs'))
  await expect(processes.run('which', never)).rejects.toThrow(/Cannot find module/)
})

test('that end in the middle fail that task alone, and the next one has another', async () => {
  await start()
  const [other, ended] = await Promise.allSettled([
    processes.run('which', never),
    processes.run('exit', never),
  ])
  expect([other.status, ended.status]).toEqual(['fulfilled', 'rejected'])
  await expect(processes.run('throw', never)).rejects.toThrow(/TypeError: a bug/)
  expect(await processes.run('which', never)).toEqual(expect.any(Number))
})

test('that are killed in the middle fail that task alone', async () => {
  await start()
  const pid = await processes.run('which', never)
  const run = processes.run('spin', never)
  process.kill(pid, 'SIGKILL')
  await expect(run).rejects.toThrow('the process has ended (SIGKILL)')
  expect(await processes.run('which', never)).not.toBe(pid)
})

test('whose memory is full are no more, and say so', async () => {
  await start()
  await expect(processes.run('fill', never)).rejects.toMatchObject({ hasNoMemory: true })
  expect(await processes.run('which', never)).toEqual(expect.any(Number))
})

test('go from task to task, with what was thrown as it was', async () => {
  await start()
  const first = await processes.run('which', never)
  await expect(processes.run('refuse', never)).rejects.toMatchObject({ statusCode: 503, message: 'no' })
  expect(await processes.run('read', never, [Buffer.from('12345')])).toBe(5)
  expect(await processes.run('which', never)).toBe(first)
})

test('are gone when their task is given up, whatever they do', async () => {
  await start()
  const first = await processes.run('which', never)
  const over = new AbortController()
  const run = processes.run('spin', over.signal)
  over.abort(new Error('enough'))
  await expect(run).rejects.toThrow('enough')
  expect(isThere(first)).toBe(false)
  expect(await processes.run('which', never)).not.toBe(first)
})

test('that are closed tell whoever waits', async () => {
  await start()
  const run = processes.run('spin', never)
  const told = expect(run).rejects.toBeInstanceOf(ProcessEndedError)
  processes.close()
  await told
})
