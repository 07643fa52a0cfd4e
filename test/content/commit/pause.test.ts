// While the service is away the queue rests, and whoever waits hears of it.

import { realWorld } from '../../../src/world/world.ts'
import { afterEach, expect, it, vi } from 'vitest'
import { NetworkError } from '../../../src/api/errors.ts'
import { waitForJob } from '../../../src/content/commit/job.ts'
import { CountedLog } from '../../../src/content/commit/counted-log.ts'
import { silentLog } from '../../../src/log.ts'
import { setUpQueue, type QueueSetup } from './queue-setup.ts'

let open: QueueSetup | undefined

afterEach(async () => {
  await open?.close()
  open = undefined
  vi.useRealTimers()
})

it('thousands of unsent documents cost no attempt while the service is away, and all go when it is back', async () => {
  let attempts = 0
  let isAway = true
  const setup = setUpQueue(async () => {
    attempts++
    if (!isAway) return undefined
    setup.queue.pause()
    throw new NetworkError({ method: 'PUT', path: '/' }, 'unreachable', 'refused')
  })
  open = setup
  for (let n = 0; n < 2_000; n++) setup.queue.submit({ kind: 'put', path: `/${n}`, spool: `${n}` })
  await setup.pass(60_000)
  expect(attempts).toBeLessThanOrEqual(8)
  expect(setup.queue.starved()).toEqual([])
  isAway = false
  setup.queue.goOn()
  await setup.pass(1_000)
  expect([...setup.queue.jobs()]).toEqual([])
})

it('no more are under way than should be as things are, and all slots are taken again when that is over', async () => {
  let most = 8
  let underWay = 0
  const ends: (() => void)[] = []
  open = setUpQueue(
    async () => {
      underWay++
      await new Promise<void>((end) => void ends.push(end))
      underWay--
      return undefined
    },
    { atOnce: () => most },
  )
  for (let n = 0; n < 30; n++) open.queue.submit({ kind: 'put', path: `/${n}`, spool: `${n}` })
  await open.pass(1_000)
  expect(underWay).toBe(8)
  most = 2
  for (let n = 0; n < 10; n++) {
    ends.shift()?.()
    await open.pass(1_000)
  }
  expect(underWay).toBe(2)
  most = 8
  ends.shift()?.()
  await open.pass(1_000)
  expect(underWay).toBe(8)
  while (ends.length > 0) {
    for (const end of ends.splice(0)) end()
    await open.pass(1_000)
  }
  expect([...open.queue.jobs()]).toEqual([])
})

it('a close that waits hears of it at once, also one that comes later', async () => {
  open = setUpQueue(
    (_intention, signal) =>
      new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error)),
      ),
  )
  const { queue } = open
  for (let n = 0; n < 8; n++) queue.submit({ kind: 'put', path: `/busy ${n}`, spool: '0' })
  const waiting = queue.submit({ kind: 'put', path: '/a', spool: '1' })
  if (waiting === undefined) throw new Error('nothing was submitted')
  const outcome = waitForJob(realWorld().clock, waiting, { timeoutMs: Infinity, untilUnreachable: true })
  await open.pass(0)
  queue.pause()
  expect(await outcome).toBe('unreachable')
  const late = queue.submit({ kind: 'put', path: '/b', spool: '2' })
  if (late === undefined) throw new Error('nothing was submitted')
  expect(await waitForJob(realWorld().clock, late, { timeoutMs: Infinity, untilUnreachable: true })).toBe(
    'unreachable',
  )
})

it('lines that say the same are counted', () => {
  vi.useFakeTimers()
  const { clock } = realWorld()
  const lines: [object, string][] = []
  const log = new CountedLog(
    { ...silentLog, warn: (fields, message) => void lines.push([fields, message]) },
    clock,
  )
  for (let n = 0; n < 100; n++) log.warn('503', { path: `/${n}` }, 'not sent yet')
  log.warn('429', { path: '/other' }, 'not sent yet')
  vi.advanceTimersByTime(10_000)
  expect(lines).toEqual([
    [{ path: '/0' }, 'not sent yet'],
    [{ path: '/other' }, 'not sent yet'],
    [{ kind: '503', count: 99 }, 'not sent yet: as often again'],
  ])
})
