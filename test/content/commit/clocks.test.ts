// Waiting is measured with a clock that nobody sets; what is journaled survives one that was set.

import { afterEach, describe, expect, it, vi } from 'vitest'
import { ApiError } from '../../../src/api/errors.ts'
import { setUpQueue, type QueueSetup } from './queue-setup.ts'

const hourMs = 3_600_000
const call = { method: 'PUT', path: '/a' }

let open: QueueSetup | undefined

afterEach(async () => {
  await open?.close()
  open = undefined
  vi.useRealTimers()
})

describe.each([
  ['back', -6 * hourMs],
  ['ahead', 6 * hourMs],
])('a wall clock that is set six hours %s', (_, byMs) => {
  it('delays no second attempt', async () => {
    let attempts = 0
    open = setUpQueue(async () => {
      if (++attempts === 1) throw new ApiError(call, 503, 'busy')
      return undefined
    })
    open.queue.submit({ kind: 'put', path: '/a', spool: '1' })
    await open.pass(0)
    open.setWallClock(byMs)
    await open.pass(1_000)
    expect(attempts).toBe(2)
  })

  it('delays no delete beyond its grace', async () => {
    const ran: string[] = []
    open = setUpQueue(async ({ kind }) => (ran.push(kind), undefined))
    open.queue.submit({ kind: 'delete', path: '/a', base: 'v1', deferMs: 1_000 })
    await open.pass(500)
    open.setWallClock(byMs)
    open.queue.submit({ kind: 'put', path: '/b', spool: '1' })
    await open.pass(1_000)
    expect(ran).toEqual(['put', 'delete'])
  })

  it('delays nothing after a restart', async () => {
    let isBusy = true
    const ran: string[] = []
    open = setUpQueue(async ({ path }) => {
      if (isBusy) throw new ApiError(call, 503, 'busy')
      ran.push(path)
      return undefined
    })
    open.queue.submit({ kind: 'put', path: '/a', spool: '1' })
    open.queue.submit({ kind: 'delete', path: '/b', base: 'v1', deferMs: 1_000 })
    await open.pass(3_000)
    isBusy = false
    open.setWallClock(byMs)
    await open.restart()
    await open.pass(60_000)
    expect(ran).toEqual(['/a', '/b'])
  })
})

describe('a service that asks for patience', () => {
  it('is given what it asked for, also across a restart', async () => {
    let attempts = 0
    open = setUpQueue(async () => {
      attempts++
      throw new ApiError(call, 429, 'slow down', 600_000)
    })
    open.queue.submit({ kind: 'put', path: '/a', spool: '1' })
    await open.pass(300_000)
    await open.restart()
    await open.pass(299_000)
    expect(attempts).toBe(1)
    await open.pass(2_000)
    expect(attempts).toBe(2)
  })

  it('is given an hour at most', async () => {
    let attempts = 0
    open = setUpQueue(async () => {
      attempts++
      throw new ApiError(call, 503, 'come back next year', 365 * 24 * hourMs)
    })
    const job = open.queue.submit({ kind: 'put', path: '/a', spool: '1' })
    await open.pass(0)
    expect((job?.intention.notBefore ?? 0) - Date.now()).toBe(hourMs)
    await open.pass(hourMs)
    expect(attempts).toBe(2)
  })
})
