// Versions that a refused move leaves at its source when something newer takes its place: each goes before what was
// wanted there, or above it, since then.

import { afterEach, describe, expect, it, vi } from 'vitest'
import type { RemoteFile } from '../../../src/api/types.ts'
import type { Intention, IntentionDraft } from '../../../src/content/intention.ts'
import { ErrnoError } from '../../../src/errno-error.ts'
import { setUpQueue, type QueueSetup } from './queue-setup.ts'

let setup: QueueSetup
/** Changes that came to their end, oldest first. */
let done: string[]
/** Documents that the service has under `/d`. */
let inFolder: Set<string>
/** Until this is called nothing is answered. */
let begin: () => void
let isAway: boolean

function start(...documents: string[]): void {
  done = []
  inFolder = new Set(documents)
  isAway = false
  const begun = new Promise<void>((resolve) => (begin = resolve))
  setup = setUpQueue(async (intention: Intention): Promise<RemoteFile | undefined> => {
    await begun
    if (isAway) throw new Error('away')
    return run(intention)
  })
}

/** As the service does: a document takes no folder's place, and nothing comes to `/refused`. */
function run(intention: Intention): RemoteFile | undefined {
  const { kind, path, source } = intention
  if (kind === 'put' && path === '/refused') throw new ErrnoError('EINVAL', 'refused')
  if (kind === 'put' && path === '/d' && inFolder.size > 0)
    throw new ErrnoError('EISDIR', 'a folder stands here')
  done.push(`${kind} ${path}${source === undefined ? '' : ` from ${source}`}`)
  inFolder.delete(kind === 'delete' ? path : (source ?? ''))
  return kind === 'put' ? ({ kind: 'file', name: path, size: 1, modifiedAt: path } as RemoteFile) : undefined
}

const move = (source: string, path: string, base?: string): IntentionDraft => {
  return { kind: 'put', path, source, sourceFingerprint: 'old', base, deferMs: 0 }
}
const save = (path: string): IntentionDraft => ({ kind: 'put', path, spool: 'new', size: 1, deferMs: 0 })

/** Everything is sent. */
async function expectEmpty(): Promise<void> {
  begin()
  await setup.pass(60 * 60_000)
  expect([...setup.queue.jobs()].map(({ intention }) => intention)).toEqual([])
}

afterEach(async () => {
  await setup.close()
  vi.useRealTimers()
})

describe('a document that comes to the place of the folder that it was in', () => {
  async function replaceFolder(): Promise<void> {
    await setup.pass(0)
    setup.queue.submit({ kind: 'prune', path: '/d' })
    setup.queue.submit(save('/d'))
  }

  it('waits until it was moved on, its first move being refused', async () => {
    start('/d/a')
    setup.queue.submit(move('/d/a', '/refused'))
    await replaceFolder()
    setup.queue.submit(move('/refused', '/c'))
    await expectEmpty()
    expect(done).toEqual(['put /c from /d/a', 'prune /d', 'put /d'])
  })

  it.each([
    ['and nothing else', undefined],
    ['and what stood where it was to go', 'theirs'],
  ])('waits until it was deleted, its move being refused, %s', async (_what, base) => {
    start('/d/a')
    setup.queue.submit(move('/d/a', '/refused', base))
    await replaceFolder()
    setup.queue.submit({ kind: 'delete', path: '/refused', deferMs: 1_000 })
    await expectEmpty()
    expect(done.filter((one) => one !== 'delete /refused')).toEqual(['delete /d/a', 'prune /d', 'put /d'])
  })
})

it('what is saved where a refused move came from stays when what was moved is deleted', async () => {
  start()
  begin()
  setup.queue.submit(move('/a', '/refused'))
  await setup.pass(0)
  isAway = true
  setup.queue.submit(save('/a'))
  // It could not give way.
  await setup.pass(1_000)
  setup.queue.submit({ kind: 'delete', path: '/refused' })
  isAway = false
  await expectEmpty()
  expect(done).toEqual(['delete /a', 'put /a'])
})
