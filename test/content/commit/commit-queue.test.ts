// The order in which intentions run, with a real journal and a function that stands for the work.

import { realWorld } from '../../../src/world/world.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ApiError, NetworkError } from '../../../src/api/errors.ts'
import { CommitQueue } from '../../../src/content/commit/commit-queue.ts'
import type { Intention } from '../../../src/content/intention.ts'
import { waitForJob } from '../../../src/content/commit/job.ts'
import { Journal } from '../../../src/content/spool/journal.ts'
import { silentLog } from '../../../src/log.ts'

const { clock, chance } = realWorld()
let dir: string
let journal: Journal
let queue: CommitQueue
/** Intentions that ran, in order, and the work of each: by path, else it succeeds. */
let ran: string[]
let answers: Map<string, (intention: Intention, signal: AbortSignal) => Promise<void>>

function open(): void {
  journal = new Journal(dir, realWorld())
  queue = new CommitQueue({
    journal,
    log: silentLog,
    clock,
    chance,
    ask: { errnoOf: () => 'EIO', materialize: async (_intention, take) => take({}) },
    run: async (intention, signal) => {
      ran.push(`${intention.kind} ${intention.path}`)
      await answers.get(intention.path)?.(intention, signal)
      return undefined
    },
    deleteSource: async () => {},
    isSourceReplaced: async () => true,
    say: () => {},
  })
}

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'commit-queue-'))
  ran = []
  answers = new Map()
  open()
})

afterEach(async () => {
  vi.useRealTimers()
  await queue.close()
  journal.close()
  rmSync(dir, { recursive: true })
})

const done = { timeoutMs: 20_000 }

/** Resolves when `release` is called: work that is under way until then. */
function gate(): { reached: Promise<void>; work: () => Promise<void>; release: () => void } {
  let release = (): void => {}
  let reach = (): void => {}
  const opened = new Promise<void>((resolve) => (release = resolve))
  const reached = new Promise<void>((resolve) => (reach = resolve))
  return { reached, release, work: () => (reach(), opened) }
}

describe('commit queue', () => {
  it('runs what concerns one path in order, and other paths beside it', async () => {
    const first = gate()
    answers.set('/a', first.work)
    queue.submit({ kind: 'put', path: '/a', spool: '1' })
    await first.reached
    const move = queue.submit({ kind: 'put', path: '/b', source: '/a' })
    const other = queue.submit({ kind: 'put', path: '/c', spool: '2' })
    if (move === undefined || other === undefined) throw new Error('nothing was submitted')
    await waitForJob(clock, other, done)
    expect(ran).toEqual(['put /a', 'put /c'])
    first.release()
    await waitForJob(clock, move, done)
    expect(ran).toEqual(['put /a', 'put /c', 'put /b'])
  })

  it('makes a delete and the save after it one intention', async () => {
    queue.submit({ kind: 'delete', path: '/a', base: 'v1', deferMs: 60_000 })
    const save = queue.submit({ kind: 'put', path: '/a', spool: '1' })
    if (save === undefined) throw new Error('nothing was submitted')
    expect(save.intention.base).toBe('v1')
    await waitForJob(clock, save, done)
    expect(ran).toEqual(['put /a'])
  })

  describe('what rests', () => {
    /** Everything now follows the test's own clock. */
    beforeEach(async () => {
      await queue.close()
      journal.close()
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
      open()
    })

    function submitResting(path: string): void {
      queue.submit({ kind: 'put', path, spool: path, deferMs: 200 })
    }

    it('waits while more is submitted, and no longer than a second', async () => {
      const begun = Date.now()
      for (let n = 0; n < 100 && ran.length === 0; n++) {
        submitResting(`/${n}`)
        await vi.advanceTimersByTimeAsync(50)
      }
      expect(ran[0]).toBe('put /0')
      expect(Date.now() - begun).toBe(1_200)
    })

    it('is sent when nothing more comes', async () => {
      submitResting('/a')
      await vi.advanceTimersByTimeAsync(150)
      submitResting('/b')
      await vi.advanceTimersByTimeAsync(99)
      expect(ran).toEqual([])
      await vi.advanceTimersByTimeAsync(1)
      expect(ran).toEqual(['put /a'])
      await vi.advanceTimersByTimeAsync(100)
      expect(ran).toEqual(['put /a', 'put /b'])
    })
  })

  it('what another call did is done, but for what is under way', async () => {
    const sending = gate()
    answers.set('/f/a', sending.work)
    const a = queue.submit({ kind: 'delete', path: '/f/a', base: 'v1' })
    await sending.reached
    const late = Array.from({ length: 250 }, (_, n) =>
      queue.submit({ kind: 'delete', path: `/f/${n}`, base: 'v1', deferMs: 60_000 }),
    )
    queue.submit({ kind: 'delete', path: '/g', base: 'v1', deferMs: 60_000 })
    const untried = queue.untriedDeletes('/f')
    expect(untried).toEqual(late)
    await queue.fulfilled(a === undefined ? untried : [a, ...untried])
    for (const job of untried) expect(job.isDone).toBe(true)
    expect(a?.isDone).toBe(false)
    expect(journal.intentions.all().map(({ path }) => path)).toEqual(['/f/a', '/g'])
    sending.release()
    if (a !== undefined) await waitForJob(clock, a, done)
    expect(ran).toEqual(['delete /f/a'])
  })

  it('waits for what stood where a folder is now', async () => {
    queue.submit({ kind: 'delete', path: '/a', base: 'v1', deferMs: 60_000 })
    const save = queue.submit({ kind: 'put', path: '/a/x', spool: '1' })
    if (save === undefined) throw new Error('nothing was submitted')
    await waitForJob(clock, save, done)
    expect(ran).toEqual(['delete /a', 'put /a/x'])
  })

  it('prunes a folder after everything that leaves it', async () => {
    const leaving = gate()
    answers.set('/new/x', leaving.work)
    queue.submit({ kind: 'put', path: '/new/x', source: '/old/x' })
    const prune = queue.submit({ kind: 'prune', path: '/old' })
    if (prune === undefined) throw new Error('nothing was submitted')
    await leaving.reached
    expect(ran).toEqual(['put /new/x'])
    leaving.release()
    await waitForJob(clock, prune, done)
    expect(ran).toEqual(['put /new/x', 'prune /old'])
  })

  it('puts nothing new into a folder before what takes the folder of before away', async () => {
    queue.pause()
    queue.submit({ kind: 'delete', path: '/f/x', base: 'v1' })
    queue.submit({ kind: 'prune', path: '/f' })
    queue.submit({ kind: 'put', path: '/f', spool: '1', base: 'v1' })
    queue.submit({ kind: 'delete', path: '/f' })
    const save = queue.submit({ kind: 'put', path: '/f/x', spool: '2' })
    if (save === undefined) throw new Error('nothing was submitted')
    queue.goOn()
    await waitForJob(clock, save, done)
    expect(ran).toEqual(['delete /f/x', 'prune /f', 'delete /f', 'put /f/x'])
  })

  it('keeps nothing of what was never sent, nor of a folder that was made there, behind what takes the folder of before away', async () => {
    queue.pause()
    queue.submit({ kind: 'delete', path: '/f/x', base: 'v1' })
    const prune = queue.submit({ kind: 'prune', path: '/f' })
    queue.submit({ kind: 'put', path: '/f', spool: '1' })
    expect(queue.submit({ kind: 'delete', path: '/f' })).toBeUndefined()
    expect(queue.submit({ kind: 'prune', path: '/f' })).toBe(prune)
    // A document saved in it since then is to be gone first.
    queue.submit({ kind: 'put', path: '/f/y', spool: '2' })
    const last = queue.submit({ kind: 'prune', path: '/f' })
    if (last === undefined || last === prune) throw new Error('nothing was submitted')
    queue.goOn()
    await waitForJob(clock, last, done)
    expect(ran).toEqual(['delete /f/x', 'prune /f', 'put /f/y', 'prune /f'])
  })

  it('nor where what stood there before is cut off, and waits for its next attempt', async () => {
    const cut = gate()
    answers.set('/f/x', async ({ kind }) => {
      if (kind === 'put') return
      await cut.work()
      answers.delete('/f/x')
      throw new NetworkError({ method: 'DELETE', path: '/f/x' }, 'cut', 'the connection broke')
    })
    queue.submit({ kind: 'delete', path: '/f/x', base: 'v1' })
    queue.submit({ kind: 'prune', path: '/f' })
    const save = queue.submit({ kind: 'put', path: '/f/x', spool: '2' })
    if (save === undefined) throw new Error('nothing was submitted')
    await cut.reached
    cut.release()
    await waitForJob(clock, save, done)
    expect(ran).toEqual(['delete /f/x', 'delete /f/x', 'prune /f', 'put /f/x'])
  })

  it('tries again after a failure that passes', async () => {
    let failures = 2
    answers.set('/a', async () => {
      if (failures-- > 0) throw new ApiError({ method: 'PUT', path: '/a' }, 503, 'busy', 0)
    })
    const job = queue.submit({ kind: 'put', path: '/a', spool: '1' })
    if (job === undefined) throw new Error('nothing was submitted')
    expect(await waitForJob(clock, job, done)).toBe('done')
    expect(ran).toHaveLength(3)
  })

  it.each(['EROFS', 'EACCES', 'EPERM', 'EDQUOT', 'ENFILE'])(
    'takes %s of the disk here for no refusal of the service',
    async (code) => {
      let failures = 1
      answers.set('/a', async () => {
        if (failures-- > 0)
          throw Object.assign(new Error(`${code}: it says, open`), { code, syscall: 'open' })
      })
      const job = queue.submit({ kind: 'put', path: '/a', spool: '1' })
      if (job === undefined) throw new Error('nothing was submitted')
      expect(await waitForJob(clock, job, done)).toBe('done')
    },
  )

  it('keeps what the service refuses, with its reason, until it is tried again by hand', async () => {
    let isRefusing = true
    answers.set('/a', async () => {
      if (isRefusing) throw new ApiError({ method: 'PUT', path: '/a' }, 400, 'no such type')
    })
    const job = queue.submit({ kind: 'put', path: '/a', spool: '1' })
    if (job === undefined) throw new Error('nothing was submitted')
    await expect(waitForJob(clock, job, done)).rejects.toThrow('PUT /a: 400 no such type')
    expect(journal.intentions.all()).toMatchObject([{ path: '/a', isRefused: true }])
    isRefusing = false
    expect(queue.runNow(() => true, { refusedToo: true })).toBe(1)
    expect(await waitForJob(clock, job, done)).toBe('done')
    expect(journal.intentions.all()).toEqual([])
  })

  it('keeps no signature that the service echoes in its refusal', async () => {
    const refusal = new ApiError(
      { method: 'PUT', path: '/a' },
      400,
      'cannot fetch https://blobs.example/d/1?signature=SECRET&expires=9',
    )
    answers.set('/a', () => Promise.reject(refusal))
    const job = queue.submit({ kind: 'put', path: '/a', source: '/b' })
    if (job === undefined) throw new Error('nothing was submitted')
    await expect(waitForJob(clock, job, done)).rejects.toBe(refusal)
    expect(job.intention.lastError).toContain('https://blobs.example/d/1?[redacted]')
    expect(journal.intentions.all()[0]?.lastError).toBe(job.intention.lastError)
  })

  it('tells a waiter at once that the service is out of reach, and goes on', async () => {
    let isAway = true
    answers.set('/a', async () => {
      if (isAway) throw new NetworkError({ method: 'PUT', path: '/a' }, 'unreachable', 'refused')
    })
    const job = queue.submit({ kind: 'put', path: '/a', spool: '1' })
    if (job === undefined) throw new Error('nothing was submitted')
    expect(await waitForJob(clock, job, { ...done, untilUnreachable: true })).toBe('unreachable')
    isAway = false
    queue.runNow(() => true)
    expect(await waitForJob(clock, job, done)).toBe('done')
  })

  it('stops sending content that is being written again, and sends what comes in its place', async () => {
    const sending = gate()
    answers.set('/a', async (_intention, signal) => {
      await Promise.race([
        sending.work(),
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      ])
    })
    const first = queue.submit({ kind: 'put', path: '/a', spool: '1' })
    if (first === undefined) throw new Error('nothing was submitted')
    await sending.reached
    queue.hold(first)
    await first.changed()
    answers.delete('/a')
    const second = queue.submit({ kind: 'put', path: '/a', spool: '1' })
    if (second === undefined) throw new Error('nothing was submitted')
    expect(second.intention.path).toBe('/a')
    expect(await waitForJob(clock, first, done)).toBe('done')
    expect(ran).toEqual(['put /a', 'put /a'])
  })

  it.each([
    ['', false],
    ['over what is to be deleted', true],
  ])(
    'lets what is held arrive before it is moved on %s: nobody else would let it go',
    async (_where, isOver) => {
      queue.pause()
      const first = queue.submit({ kind: 'put', path: '/a', source: '/o' })
      if (first === undefined) throw new Error('nothing was submitted')
      queue.hold(first)
      if (isOver) queue.submit({ kind: 'delete', path: '/b', base: '1' })
      const second = queue.submit({ kind: 'put', path: '/b', source: '/a' })
      if (second === undefined) throw new Error('nothing was submitted')
      queue.goOn()
      expect(await waitForJob(clock, second, done)).toBe('done')
      expect(ran).toEqual(['put /a', 'put /b'])
    },
  )

  it('knows that a copy stands also when its document is written again: what an intention carries never changes', async () => {
    let attempts = 0
    answers.set('/b', async (intention) => {
      if (++attempts > 1) return
      intention.isCopied = true
      journal.intentions.save(intention)
      throw new ApiError({ method: 'DELETE', path: '/a' }, 503, 'busy')
    })
    const move = queue.submit({ kind: 'put', path: '/b', source: '/a', spool: '1' })
    if (move === undefined) throw new Error('nothing was submitted')
    while (move.error === undefined) await move.changed()
    queue.hold(move)
    const save = queue.submit({ kind: 'put', path: '/b', spool: '2' })
    if (save === undefined) throw new Error('nothing was submitted')
    expect(journal.intentions.all().map(({ spool, isCopied }) => [spool, isCopied])).toEqual([
      ['1', true],
      ['2', false],
    ])
    queue.runNow(() => true)
    expect(await waitForJob(clock, save, done)).toBe('done')
  })

  it('takes up after a restart what was not done, in order and in doubt', async () => {
    queue.submit({ kind: 'put', path: '/a', spool: '1', deferMs: 60_000 })
    queue.submit({ kind: 'put', path: '/b', source: '/a', deferMs: 60_000 })
    await queue.close()
    journal.close()
    open()
    const intentions = journal.intentions.all()
    expect(intentions).toMatchObject([
      { path: '/a', spool: '1', isOutcomeUnknown: true },
      { path: '/b', source: '/a' },
    ])
    queue.resume(intentions)
    queue.runNow(() => true)
    for (const job of queue.jobs()) await waitForJob(clock, job, done)
    expect(ran).toEqual(['put /a', 'put /b'])
  })

  it('takes back what has not begun, and nothing else', async () => {
    const job = queue.submit({ kind: 'put', path: '/a', spool: '1', deferMs: 60_000 })
    if (job === undefined) throw new Error('nothing was submitted')
    expect(queue.withdraw(job)).toBe(true)
    expect(journal.intentions.all()).toEqual([])
    const doubtful = queue.submit({
      kind: 'put',
      path: '/b',
      spool: '1',
      isOutcomeUnknown: true,
      deferMs: 60_000,
    })
    if (doubtful === undefined) throw new Error('nothing was submitted')
    expect(queue.withdraw(doubtful)).toBe(false)
  })

  it('takes back after a restart what stood behind something else, and cannot have begun', async () => {
    queue.submit({ kind: 'put', path: '/a', spool: '1', deferMs: 60_000 })
    queue.submit({ kind: 'put', path: '/b', source: '/a', deferMs: 60_000 })
    queue.submit({ kind: 'put', path: '/a', spool: '2', deferMs: 60_000 })
    await queue.close()
    journal.close()
    open()
    queue.resume(journal.intentions.all())
    const [first, move, last] = [...queue.jobs()]
    if (first === undefined || move === undefined || last === undefined) throw new Error('not all is there')
    expect(queue.withdraw(last)).toBe(true)
    expect(queue.withdraw(move)).toBe(true)
    expect(queue.withdraw(first)).toBe(false)
  })
})

describe('journal', () => {
  it('belongs to one process at a time: a second one is told so', () => {
    expect(() => new Journal(dir, realWorld())).toThrow(/EBUSY: another docmount uses the state folder/)
  })
})

describe('a new document that a power cut may set beside what was there before says so:', () => {
  let replacesUndurableRow: unknown[]

  beforeEach(() => {
    replacesUndurableRow = []
    for (const path of ['/a', '/b', '/a/x'])
      answers.set(
        path,
        async ({ kind, ...rest }) =>
          void (kind === 'put' && replacesUndurableRow.push(rest.replacesUndurableRow)),
      )
  })

  async function save(path: string, spool: string): Promise<void> {
    const job = queue.submit({ kind: 'put', path, spool })
    await vi.waitUntil(() => job?.isDone)
  }

  it('it takes the place of one that was never sent', async () => {
    queue.submit({ kind: 'put', path: '/a', spool: 'first', deferMs: 60_000 })
    await save('/a', 'second')
    expect(ran).toEqual(['put /a'])
    expect(replacesUndurableRow).toEqual([true])
  })

  it('one that was never sent was deleted before', async () => {
    queue.submit({ kind: 'put', path: '/a', spool: 'first', deferMs: 60_000 })
    queue.submit({ kind: 'delete', path: '/a', deferMs: 60_000 })
    await save('/a', 'second')
    expect(ran).toEqual(['put /a'])
    expect(replacesUndurableRow).toEqual([true])
  })

  it('it is in a folder that has the name of one that was never sent', async () => {
    queue.submit({ kind: 'put', path: '/a', spool: 'first', deferMs: 60_000 })
    queue.submit({ kind: 'delete', path: '/a', deferMs: 60_000 })
    await save('/a/x', 'second')
    expect(ran).toEqual(['put /a/x'])
    expect(replacesUndurableRow).toEqual([true])
  })

  it('it has the name of a folder in which one was never sent', async () => {
    queue.submit({ kind: 'put', path: '/a/x', spool: 'first', deferMs: 60_000 })
    queue.submit({ kind: 'delete', path: '/a/x', deferMs: 60_000 })
    await save('/a', 'second')
    expect(ran).toEqual(['put /a'])
    expect(replacesUndurableRow).toEqual([true])
  })

  it('it was renamed before it was sent', async () => {
    const job = queue.submit({ kind: 'put', path: '/a', spool: 'same', deferMs: 60_000 })
    if (job === undefined) throw new Error('nothing was submitted')
    queue.withdraw(job)
    await save('/b', 'same')
    expect(replacesUndurableRow).toEqual([true])
  })

  it('it took the name that another was to leave, which needs not be taken away now', async () => {
    queue.submit({ kind: 'put', path: '/b', source: '/a', spool: 'other', deferMs: 60_000 })
    await save('/a', 'second')
    expect(replacesUndurableRow).toEqual([true])
  })

  it('it was only here', async () => {
    journal.localFiles.save({ path: '/a.tmp', spool: 'same', reference: undefined })
    journal.localFiles.remove('/a.tmp')
    await save('/a', 'same')
    expect(replacesUndurableRow).toEqual([true])
  })

  it('it waited for the delete of what stood there', async () => {
    const deleting = gate()
    answers.set('/a', async ({ kind, ...rest }) => {
      if (kind === 'delete') return deleting.work()
      replacesUndurableRow.push(rest.replacesUndurableRow)
    })
    queue.submit({ kind: 'delete', path: '/a' })
    await deleting.reached
    const saved = save('/a', 'second')
    deleting.release()
    await saved
    expect(replacesUndurableRow).toEqual([true])
  })

  it('until the end of that is on disk', async () => {
    queue.submit({ kind: 'put', path: '/a', spool: 'first', deferMs: 60_000 })
    queue.submit({ kind: 'delete', path: '/a', deferMs: 60_000 })
    await journal.durable()
    await save('/a', 'second')
    await save('/b', 'another')
    expect(replacesUndurableRow).toEqual([false, false])
  })
})
