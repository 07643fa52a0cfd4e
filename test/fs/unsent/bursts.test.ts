// How long a close waits for a program that copies many documents in: overlapping while all goes well, and strict again
// as soon as anything does not. Time is the test's own. With a kernel: test/crash/bursts.test.ts.

import { beforeEach, describe, expect, test } from 'vitest'
import { Job } from '../../../src/content/commit/job.ts'
import { intend } from '../../../src/content/intention.ts'
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

/** A close of a program, as far as it gets before the test ends its job. */
async function close(
  program: string | undefined,
  { size = 1, base }: { size?: number; base?: string } = {},
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
  const { signal } = new AbortController()
  const caller = { uid: 0, gid: 0, pid: 1, program, signal }
  bursts
    .wait({ caller, job, size }, (each) =>
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

async function turnsPassed(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** From here on the program is copying many. */
async function fourStrict(program = 'cp'): Promise<void> {
  for (let count = 0; count < 4; count++) {
    const one = await close(program)
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

  test('waits for what replaces a version', async () => {
    await fourStrict()
    expect((await close('cp', { base: '3@yesterday' })).state).toBe('waits')
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
