// A transaction that fails leaves the queue as it was: memory never says what the journal does not.

import { afterEach, describe, expect, it, vi } from 'vitest'
import { ApiError } from '../../../src/api/errors.ts'
import { waitForJob, type Job } from '../../../src/content/commit/job.ts'
import type { Intention, IntentionDraft } from '../../../src/content/intention.ts'
import { realWorld } from '../../../src/world/world.ts'
import { setUpQueue, type QueueSetup } from './queue-setup.ts'

let open: QueueSetup | undefined

afterEach(async () => {
  await open?.close()
  open = undefined
  vi.useRealTimers()
})

function queued({ queue }: QueueSetup): Intention[] {
  return [...queue.jobs()].map(({ intention }) => intention)
}

it.each<[string, (setup: QueueSetup) => void]>([
  ['a new document', ({ queue }) => queue.submit({ kind: 'put', path: '/new', spool: '9' })],
  ['a save over an unsent one', ({ queue }) => queue.submit({ kind: 'put', path: '/a', spool: '9' })],
  ['a delete of an unsent one', ({ queue }) => queue.submit({ kind: 'delete', path: '/a' })],
  ['a move over an unsent one', ({ queue }) => queue.submit({ kind: 'put', path: '/a', source: '/x' })],
  ['a save where an unsent one was to leave', ({ queue }) => queue.submit({ kind: 'put', path: '/y', spool: '9' })],
  ['a withdrawal', ({ queue }) => {
    const job = queue.find('/c')
    if (job !== undefined) queue.withdraw(job)
  }],
  ['all of it', ({ queue }) => {
    queue.submit({ kind: 'put', path: '/c', spool: '9' })
    queue.submit({ kind: 'prune', path: '/d' })
    queue.submit({ kind: 'delete', path: '/b', base: 'v1' })
    queue.submit({ kind: 'put', path: '/b', spool: '8' })
  }],
])('%s in a transaction that fails is nothing', async (_title, change) => {
  const ran: string[] = []
  open = setUpQueue(async ({ kind, path, spool }) => (ran.push(`${kind} ${path} ${spool}`), undefined))
  const { queue, journal } = open
  const deferMs = 10_000
  queue.submit({ kind: 'put', path: '/a', spool: '1', deferMs })
  queue.submit({ kind: 'put', path: '/b', source: '/a', deferMs })
  queue.submit({ kind: 'put', path: '/c', spool: '2', deferMs })
  queue.submit({ kind: 'put', path: '/d/x', spool: '3', deferMs })
  queue.submit({ kind: 'put', path: '/e', source: '/y', sourceFingerprint: 'seen', spool: '4', deferMs })
  const before = structuredClone(queued(open))
  expect(() =>
    journal.transaction(() => {
      change(open as QueueSetup)
      throw new Error('the disk is full')
    }),
  ).toThrow('the disk is full')
  expect(queued(open)).toEqual(before)
  expect(journal.intentions.all().map(({ id, spool }) => [id, spool])).toEqual(before.map(({ id, spool }) => [id, spool]))
  await open.pass(0)
  expect(queue.starved()).toEqual([])
  await open.pass(60_000)
  expect(queued(open)).toEqual([])
  expect(ran.sort()).toEqual(['put /a 1', 'put /b undefined', 'put /c 2', 'put /d/x 3', 'put /e 4'])
}) // prettier-ignore

it('a newer change whose transaction fails lets go of nothing that is held, and stops nothing that is on its way', async () => {
  const ran: string[] = []
  let end: () => void = () => {}
  open = setUpQueue(async ({ path, spool }, signal) => {
    ran.push(`${spool} at ${path}`)
    await new Promise<void>((resolve) => {
      end = resolve
      signal.addEventListener('abort', () => resolve())
    })
    signal.throwIfAborted()
    return undefined
  })
  const { queue, journal } = open
  const held = queue.submit({ kind: 'put', path: '/a', source: '/x', spool: '1', deferMs: 10_000 })
  if (held === undefined) throw new Error('nothing was submitted')
  queue.hold(held)
  const sent = queue.submit({ kind: 'put', path: '/b', spool: '2' })
  await open.pass(0)
  expect(() =>
    journal.transaction(() => {
      queue.submit({ kind: 'put', path: '/a', spool: '9' })
      queue.submit({ kind: 'delete', path: '/b' })
      throw new Error('the disk is full')
    }),
  ).toThrow('the disk is full')
  await open.pass(60_000)
  end()
  await open.pass(60_000)
  expect(ran).toEqual(['2 at /b'])
  expect([held.isHeld, sent?.isHeld, sent?.isDone]).toEqual([true, false, true])
})

it('what is refused makes way for what is newer later, where the journal cannot take that now', async () => {
  const ran: string[] = []
  let refuse: () => void = () => {}
  open = setUpQueue(({ path, spool }) => {
    ran.push(`${spool} at ${path}`)
    if (spool !== '1') return Promise.resolve(undefined)
    const error = new ApiError({ method: 'PUT', path }, 413, 'too large')
    return new Promise((_resolve, reject) => (refuse = () => reject(error)))
  })
  const { queue, journal } = open
  queue.submit({ kind: 'put', path: '/a', source: '/x', spool: '1' })
  await open.pass(0)
  queue.submit({ kind: 'put', path: '/a', spool: '2' })
  const full = vi.spyOn(journal.intentions, 'save').mockImplementation(() => {
    throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })
  })
  refuse()
  await open.pass(60_000)
  expect(queued(open)).toMatchObject([{ spool: '1', isRefused: true }, { spool: '2' }])
  full.mockRestore()
  await open.pass(60_000)
  expect(queued(open)).toEqual([])
  expect(ran).toEqual(['1 at /a', '2 at /a'])
})

it('what the service has and the journal could not say is looked at, and not taken for another client', async () => {
  const unknownOutcomes: boolean[] = []
  open = setUpQueue(async ({ isOutcomeUnknown }) => (unknownOutcomes.push(isOutcomeUnknown), undefined))
  const { queue, journal } = open
  const remove = vi.spyOn(journal.intentions, 'remove').mockImplementationOnce(() => {
    throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })
  })
  const job = queue.submit({ kind: 'put', path: '/a', spool: '1' })
  await open.pass(10_000)
  expect(unknownOutcomes).toEqual([false, true])
  expect(job?.isDone).toBe(true)
  expect(queued(open)).toEqual([])
  remove.mockRestore()
})

it('a refusal that the journal cannot take holds all the same: said once, heard by who waits, and asked again after a restart', async () => {
  let tries = 0
  open = setUpQueue(async ({ path }) => {
    tries++
    throw new ApiError({ method: 'PUT', path }, 413, 'too large')
  })
  const setup = open
  const { queue, journal, events } = setup
  const job = queue.submit({ kind: 'put', path: '/a', spool: '1' })
  if (job === undefined) throw new Error('nothing was submitted')
  const heard = waitForJob(realWorld().clock, job, { timeoutMs: Infinity }).catch((error: unknown) => error)
  const full = vi.spyOn(journal.intentions, 'save').mockImplementation(() => {
    throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })
  })
  await setup.pass(600_000)
  full.mockRestore()
  expect(await heard).toMatchObject({ status: 413 })
  expect(events).toMatchObject([{ kind: 'refused', intention: { path: '/a' } }])
  expect(queued(setup)).toMatchObject([{ path: '/a', isRefused: true, lastError: expect.stringContaining('413') as string }])
  expect(journal.intentions.all()).toMatchObject([{ path: '/a', isRefused: false }])
  expect(tries).toBe(1)
  await setup.restart()
  await setup.pass(600_000)
  expect(tries).toBe(2)
  expect(events).toHaveLength(2)
  expect(setup.journal.intentions.all()).toMatchObject([{ path: '/a', isRefused: true }])
}) // prettier-ignore

describe('a move with its content, which is written on while its last bytes are on the way', () => {
  const digest = { size: 1, sha256: 'a'.repeat(64) }
  const ran: string[] = []
  let end: () => void = () => {}

  async function stored(): Promise<Job> {
    ran.length = 0
    open = setUpQueue(({ path, source, spool }) => {
      ran.push(`${spool} at ${path} from ${source ?? 'here'}`)
      return new Promise((resolve) => (end = () => resolve(undefined)))
    })
    const move: IntentionDraft = { kind: 'put', path: '/b', source: '/a', sourceFingerprint: 'seen' }
    const job = open.queue.submit({ ...move, spool: '1', size: 1, digest })
    if (job === undefined) throw new Error('nothing was submitted')
    await open.pass(0)
    open.queue.hold(job)
    return job
  }

  it('has left its source, in the journal as in memory', async () => {
    const job = await stored()
    end()
    await open?.pass(0)
    const [row] = open?.journal.intentions.all() ?? []
    expect(row).toMatchObject({ id: job.intention.id, source: undefined, sourceFingerprint: undefined })
    expect(job.intention).toMatchObject({ source: undefined, sourceFingerprint: undefined })
  })

  it('goes on where the journal could not say so: what the service has of it is known as our own', async () => {
    const job = await stored()
    const setup = open as QueueSetup
    const { queue, journal } = setup
    const before = structuredClone(job.intention)
    const save = vi.spyOn(journal.intentions, 'save').mockImplementationOnce(() => {
      throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })
    })
    end()
    await setup.pass(0)
    save.mockRestore()
    expect(queued(setup)).toMatchObject([{ ...before, isOutcomeUnknown: true, sentDigests: [digest] }])
    queue.submit({ kind: 'put', path: '/b', spool: '2' })
    for (let round = 0; round < 2; round++) {
      await setup.pass(1_000)
      end()
    }
    await setup.pass(0)
    expect(queued(setup)).toEqual([])
    expect(ran).toEqual(['1 at /b from /a', '1 at /b from /a', '2 at /b from here'])
  })
})
