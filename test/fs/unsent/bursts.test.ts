// How long a save waits for a program that saves many documents: overlapping while all goes well, and strict again
// as soon as anything does not. Time is the test's own. With a kernel: test/crash/bursts.thorough.test.ts.

import { beforeEach, describe, expect, test } from 'vitest'
import { Job } from '../../../src/content/commit/job.ts'
import { intend } from '../../../src/content/intention.ts'
import type { Caller } from '../../../src/fs/operations.ts'
import { Bursts } from '../../../src/fs/unsent/bursts.ts'
import { realWorld } from '../../../src/world/world.ts'

const MiB = 1024 * 1024

let now: number
let isReachable: boolean
let syncs: number
let ids: number
/** Closes that wait for the service, by their jobs. */
let strict: Map<Job, { resolve: () => void; reject: (error: Error) => void }>
let bursts: Bursts

beforeEach(() => {
  now = 0
  isReachable = true
  syncs = 0
  ids = 0
  strict = new Map()
  bursts = make(10_000)
})

function make(waitMs: number | undefined): Bursts {
  const { clock } = realWorld()
  return new Bursts({
    clock: { ...clock, monotonic: () => now },
    waitMs,
    isReachable: () => isReachable,
    durable: async () => void syncs++,
  })
}

interface Close {
  readonly job: Job
  state: 'waits' | 'returned' | 'failed'
  error: unknown
  /** As the queue does when the service has it. */
  done(): Promise<void>
  refused(): Promise<void>
}

/** A save of a program, as far as it gets before the test ends its job. */
async function close(
  program: string | undefined,
  { size = 1, base, by = 'closed' }: { size?: number; base?: string; by?: 'closed' | 'renamed' } = {},
): Promise<Close> {
  const job = new Job(intend(++ids, { kind: 'put', path: `/${ids}.txt`, spool: `${ids}`, base }, 0))
  const end = async (change: () => void): Promise<void> => {
    change()
    const waiting = strict.get(job)
    if (job.isDone) waiting?.resolve()
    else waiting?.reject(job.error as Error)
    job.announce()
    await turnsPassed()
  }
  const one: Close = {
    job,
    state: 'waits',
    error: undefined,
    done: () => end(() => (job.isDone = true)),
    refused: () =>
      end(() => {
        job.error = new Error(`${job.intention.path} is refused`)
        job.intention.isRefused = true
      }),
  }
  bursts[by]({ caller: callerOf(program), job, size }, (each) =>
    each.isDone
      ? Promise.resolve()
      : new Promise<void>((resolve, reject) => void strict.set(each, { resolve, reject })),
  )
    .then(
      () => (one.state = 'returned'),
      (error: unknown) => {
        one.state = 'failed'
        one.error = error
      },
    )
    .catch(() => {})
  await turnsPassed()
  return one
}

function callerOf(program: string | undefined): Caller {
  return { uid: 0, gid: 0, pid: 1, program, signal: new AbortController().signal }
}

async function turnsPassed(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** From here on the program is saving many. */
async function fourStrict(program = 'cp', by: 'closed' | 'renamed' = 'closed'): Promise<void> {
  for (let count = 0; count < 4; count++) {
    const one = await close(program, { by })
    expect(one.state).toBe('waits')
    await one.done()
    expect(one.state).toBe('returned')
  }
}

describe('a close', () => {
  test('waits for the service, the first four times; from then on only for the disk', async () => {
    await fourStrict()
    syncs = 0
    expect((await close('cp')).state).toBe('returned')
    expect(syncs).toBe(1)
  })

  test('is no other program’s business, and of an unknown one always waits', async () => {
    await fourStrict()
    expect((await close('vim')).state).toBe('waits')
    for (let count = 0; count < 6; count++) expect((await close(undefined)).state).toBe('waits')
  })

  test('waits where seven are under way, until one has arrived', async () => {
    await fourStrict()
    const early: Close[] = []
    for (let count = 0; count < 7; count++) early.push(await close('cp'))
    expect(early.map(({ state }) => state)).toEqual(Array(7).fill('returned'))
    const eighth = await close('cp')
    expect(eighth.state).toBe('waits')
    await early[3]?.done()
    expect(eighth.state).toBe('returned')
  })

  test('waits where 64 MiB are under way', async () => {
    await fourStrict()
    expect((await close('cp', { size: 63 * MiB })).state).toBe('returned')
    const second = await close('cp', { size: MiB })
    expect(second.state).toBe('waits')
    await second.done()
    expect(second.state).toBe('returned')
  })

  test('waits only for the disk, whatever it replaces', async () => {
    await fourStrict()
    expect((await close('cp', { base: '3@yesterday' })).state).toBe('returned')
  })

  test('waits while the service is not there', async () => {
    await fourStrict()
    isReachable = false
    expect((await close('cp')).state).toBe('waits')
  })

  test('waits after a rest, also for those that were not waited for', async () => {
    await fourStrict()
    const early = await close('cp')
    now += 1_001
    const later = await close('cp')
    await later.done()
    expect(later.state).toBe('waits')
    await early.done()
    expect(later.state).toBe('returned')
  })

  test('waits where one has to be tried again, for that one, too', async () => {
    await fourStrict()
    const early = await close('cp')
    early.job.error = new Error('503')
    const later = await close('cp')
    await later.done()
    expect(later.state).toBe('waits')
    await early.done()
    expect(later.state).toBe('returned')
    expect((await close('cp')).state).toBe('waits')
  })

  test('always waits where bursts are not wanted', async () => {
    bursts = make(undefined)
    await fourStrict()
    expect((await close('cp')).state).toBe('waits')
  })
})

describe('a rename of a temporary file', () => {
  test('is a save as a close is', async () => {
    await fourStrict('rsync', 'renamed')
    syncs = 0
    expect((await close('rsync', { by: 'renamed', base: '3@yesterday' })).state).toBe('returned')
    expect(syncs).toBe(1)
    expect((await close('rsync')).state).toBe('returned')
  })

  test('waits for itself alone where another was refused, which is told by the next close', async () => {
    await fourStrict('rsync', 'renamed')
    const early = await close('rsync', { by: 'renamed' })
    const other = await close('rsync', { by: 'renamed' })
    await early.refused()
    const next = await close('rsync', { by: 'renamed' })
    expect(next.state).toBe('waits')
    await next.done()
    expect([other.state, next.state]).toEqual(['returned', 'returned'])
    const after = await close('rsync', { by: 'renamed' })
    expect(after.state).toBe('waits')
    await after.done()
    expect(() => bursts.closedHere(callerOf('rsync'))).toThrow(early.job.error)
    expect(() => bursts.closedHere(callerOf('rsync'))).not.toThrow()
  })

  test('fails by its own refusal, at once', async () => {
    const one = await close('rsync', { by: 'renamed' })
    await one.refused()
    expect(one.error).toBe(one.job.error)
    expect(() => bursts.closedHere(callerOf('rsync'))).not.toThrow()
  })
})

describe('a close of which nothing is sent', () => {
  test('never waits, and tells nothing of another program', async () => {
    await fourStrict()
    const early = await close('cp')
    bursts.closedHere(callerOf('cp'))
    await early.refused()
    bursts.closedHere(callerOf('vim'))
    expect(() => bursts.closedHere(callerOf('cp'))).toThrow(early.job.error)
    expect((await close('cp')).state).toBe('waits')
  })
})

describe('what is refused after its close', () => {
  test('is the error of its program’s next close, once, whose own content is on disk; then closes wait again', async () => {
    await fourStrict()
    const early = await close('cp')
    await early.refused()
    syncs = 0
    const next = await close('cp')
    expect(next.state).toBe('failed')
    expect(next.error).toBe(early.job.error)
    expect(syncs).toBeGreaterThan(0)
    expect((await close('cp')).state).toBe('waits')
  })

  test('is told to a close that waits for its turn', async () => {
    await fourStrict()
    const early: Close[] = []
    for (let count = 0; count < 7; count++) early.push(await close('cp'))
    const eighth = await close('cp')
    await early[0]?.refused()
    expect(eighth.error).toBe(early[0]?.job.error)
  })

  test('is told after a rest, and to a save over a document', async () => {
    await fourStrict()
    const early = await close('cp')
    await early.refused()
    now += 60_000
    expect((await close('cp', { base: '3@yesterday' })).error).toBe(early.job.error)
  })

  test('is told to no other program', async () => {
    await fourStrict()
    const early = await close('cp')
    await early.refused()
    const other = await close('vim')
    await other.done()
    expect(other.state).toBe('returned')
  })
})
