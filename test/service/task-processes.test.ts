// Threads that do one task at a time: the end of one is told to its task, whenever and however it comes.

import { afterEach, expect, test } from 'vitest'
import { TaskThreads, ThreadEndedError } from '../../src/service/tables/task-threads.ts'

/** What a thread does with its task is told by the task. */
const program = `
  import { parentPort, threadId, workerData } from 'node:worker_threads'
  if (workerData === 'throws') throw new Error('it cannot begin')
  if (workerData === 'exits') process.exit(7)
  parentPort.on('message', (task) => {
    if (task === 'exit') process.exit(7)
    if (task === 'throw') setImmediate(() => { throw new TypeError('a bug') })
    if (task === 'refuse') parentPort.postMessage({ error: { message: 'no', statusCode: 503 } })
    if (task === 'which') parentPort.postMessage({ result: threadId })
  })`

let threads: TaskThreads<string, number>
afterEach(() => threads.close())

function start(workerData?: string): void {
  const url = new URL(`data:text/javascript,${encodeURIComponent(program)}`)
  threads = new TaskThreads(url, { workerData, resourceLimits: {}, idleMs: 60_000 })
}
const never = new AbortController().signal

test.each(['throws', 'exits'])('that cannot begin fail their tasks: one that %s', async (how) => {
  start(how)
  for (let turn = 0; turn < 3; turn++)
    await expect(threads.run('which', never)).rejects.toBeInstanceOf(ThreadEndedError)
})

test('that end in the middle fail that task alone, and the next one has another', async () => {
  start()
  const [other, ended] = await Promise.allSettled([threads.run('which', never), threads.run('exit', never)])
  expect([other.status, ended.status]).toEqual(['fulfilled', 'rejected'])
  await expect(threads.run('throw', never)).rejects.toMatchObject({
    name: 'ThreadEndedError',
    cause: expect.objectContaining({ message: 'a bug' }),
  })
  expect(await threads.run('which', never)).toEqual(expect.any(Number))
})

test('go from task to task, with what was thrown as it was', async () => {
  start()
  const first = await threads.run('which', never)
  await expect(threads.run('refuse', never)).rejects.toMatchObject({ statusCode: 503, message: 'no' })
  expect(await threads.run('which', never)).toBe(first)
})

test('end where their task is given up', async () => {
  start()
  const first = await threads.run('which', never)
  const over = new AbortController()
  const run = threads.run('hang', over.signal)
  over.abort(new Error('enough'))
  await expect(run).rejects.toThrow('enough')
  expect(await threads.run('which', never)).not.toBe(first)
})

test('that are closed tell whoever waits', async () => {
  start()
  const run = threads.run('hang', never)
  const told = expect(run).rejects.toBeInstanceOf(ThreadEndedError)
  await threads.close()
  await told
})
