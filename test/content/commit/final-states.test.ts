// Unsent changes are kept as what is wanted at each name, and not as the way there: they do not grow with the number
// of renames.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { RemoteFile } from '../../../src/api/types.ts'
import type { Intention, IntentionDraft } from '../../../src/content/intention.ts'
import { setUpQueue, type QueueSetup } from './queue-setup.ts'

let setup: QueueSetup
/** Contents in the service, by path. */
let stored: Map<string, string>
/** An attempt at this path is under way until the end. */
let busy: string | undefined

beforeEach(() => {
  stored = new Map()
  busy = undefined
  setup = setUpQueue((intention, signal) =>
    intention.path === busy
      ? new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason as Error)),
        )
      : Promise.resolve(serve(intention)),
  )
})

afterEach(async () => {
  await setup.close()
  vi.useRealTimers()
})

function serve({ kind, path, source = path, spool, keepSource }: Intention): RemoteFile | undefined {
  const content = spool ?? stored.get(source)
  if (source !== path && keepSource !== true) stored.delete(source)
  if (kind !== 'put' || content === undefined) return void stored.delete(path)
  stored.set(path, content)
  return { kind: 'file', name: path, size: 1, modifiedAt: new Date(stored.size).toISOString() } as RemoteFile
}

const save = (path: string, spool: string): IntentionDraft => ({ kind: 'put', path, spool, size: 1 })
const move = (source: string, path: string, spool?: string): IntentionDraft => ({
  kind: 'put',
  path,
  source,
  sourceFingerprint: 'seen',
  spool,
})

function waiting(): Intention[] {
  return [...setup.queue.jobs()].map(({ intention }) => intention)
}

it('documents that are renamed over one another, each from a name where one may be stored: one change at each name', async () => {
  const { queue, journal } = setup
  queue.pause()
  queue.submit({ ...save('/a', '0'), isOutcomeUnknown: true })
  for (let n = 1; n <= 20; n++) {
    queue.submit({ ...move('/a', '/b', `${n - 1}`), sourceFingerprint: undefined })
    queue.submit(save('/a', `${n}`))
  }
  const expected = [
    { path: '/a', spool: '20', isOutcomeUnknown: true },
    { path: '/b', spool: '19', source: undefined },
  ]
  expect(waiting().sort(byPath)).toMatchObject(expected)
  expect(journal.intentions.all().sort(byPath)).toMatchObject(expected)
  queue.goOn()
  await setup.pass(1_000)
  expect(stored).toEqual(new Map([['/a', '20'], ['/b', '19']]))
  expect(waiting()).toEqual([])
}) // prettier-ignore

function byPath(one: Intention, other: Intention): number {
  return one.path < other.path ? -1 : 1
}

it('what comes to a name that a document with its content here was to leave replaces the version there', () => {
  const { queue, journal } = setup
  queue.pause()
  queue.submit(move('/a', '/b', '1'))
  queue.submit(save('/a', '2'))
  const expected = [
    { path: '/b', spool: '1', source: undefined, sourceFingerprint: undefined },
    { path: '/a', spool: '2', base: 'seen' },
  ]
  expect(waiting()).toMatchObject(expected)
  expect(journal.intentions.all()).toMatchObject(expected)
})

it('and what an earlier save may have put there', () => {
  const { queue, journal } = setup
  const sentDigests = [{ size: 1, sha256: 'a' }]
  queue.pause()
  queue.submit({ ...move('/a', '/b', '1'), sentDigests })
  queue.submit(save('/a', '2'))
  expect(journal.intentions.all()).toMatchObject([{ path: '/b' }, { path: '/a', base: 'seen', sentDigests }])
})

it('neither waits for the other then', async () => {
  const { queue } = setup
  busy = '/a'
  queue.submit(save('/a', '0'))
  await setup.pass(0)
  queue.submit(move('/a', '/b', '0'))
  queue.submit(save('/a', '1'))
  await setup.pass(0)
  expect(stored).toEqual(new Map([['/b', '0']]))
  expect(queue.starved()).toEqual([])
})

describe('what comes to a name waits for what is to leave it, where', () => {
  function expectToWait(): void {
    expect(waiting().filter(({ path }) => path !== '/d')).toMatchObject([
      { path: '/b', source: '/d/a' },
      { path: '/d/a', spool: '2', base: undefined },
    ])
  }

  it('the service alone has its content', () => {
    setup.queue.pause()
    setup.queue.submit(move('/d/a', '/b'))
    setup.queue.submit(save('/d/a', '2'))
    expectToWait()
  })

  it('it is under way', async () => {
    busy = '/b'
    setup.queue.submit(move('/d/a', '/b', '1'))
    await setup.pass(0)
    setup.queue.submit(save('/d/a', '2'))
    expectToWait()
  })

  it('it stands at its new place already', () => {
    setup.queue.pause()
    const job = setup.queue.submit(move('/d/a', '/b', '1'))
    if (job !== undefined) job.intention.isCopied = true
    setup.queue.submit(save('/d/a', '2'))
    expectToWait()
  })

  it('the folder above is to go in between', () => {
    setup.queue.pause()
    setup.queue.submit(move('/d/a', '/b', '1'))
    setup.queue.submit({ kind: 'prune', path: '/d' })
    setup.queue.submit(save('/d/a', '2'))
    expectToWait()
  })
})

it('a copy leaves its original where it is, also for what comes there', () => {
  const { queue } = setup
  queue.pause()
  queue.submit({ ...move('/a', '/b', '1'), keepSource: true })
  queue.submit(save('/a', '2'))
  expect(waiting()).toMatchObject([{ path: '/b', source: '/a' }, { path: '/a', base: undefined }])
}) // prettier-ignore
