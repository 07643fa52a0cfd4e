// Moves one after another, whose sources another client deleted: they end refused, and hold up nothing that is saved.

import { afterEach, describe, expect, it, vi } from 'vitest'
import type { RemoteFile } from '../../../src/api/types.ts'
import type { Intention, IntentionDraft } from '../../../src/content/intention.ts'
import { ErrnoError } from '../../../src/errno-error.ts'
import { chance } from '../../model/chance.ts'
import { setUpQueue, type QueueSetup } from './queue-setup.ts'

let setup: QueueSetup
/** Contents in the service, by path. */
let stored: Map<string, string>
/** Contents that were saved anew and then taken away by a move that came before them. */
let taken: string[]
/** Until this is called nothing is answered. */
let begin: () => void

function start(): void {
  stored = new Map()
  taken = []
  const begun = new Promise<void>((resolve) => (begin = resolve))
  setup = setUpQueue(async (intention: Intention): Promise<RemoteFile | undefined> => {
    await begun
    return intention.isRefused ? undefined : put(intention)
  })
}

function put({ path, source = path, spool }: Intention): RemoteFile {
  const content = spool ?? (source === path ? undefined : stored.get(source))
  if (content === undefined) throw new ErrnoError('ENOENT', `${path}: its source is gone`)
  if (content !== spool) {
    // Content that a refused move has brought here may be moved on from where it came to; no other may.
    if (content !== 'brought') taken.push(`${content} at ${source}`)
    stored.delete(source)
  }
  stored.set(path, content)
  return { kind: 'file', name: path, size: 1, modifiedAt: new Date(stored.size).toISOString() } as RemoteFile
}

async function end(): Promise<void> {
  await setup.close()
  vi.useRealTimers()
}

const move = (source: string, path: string, base?: string): IntentionDraft => ({
  kind: 'put',
  path,
  source,
  base,
  deferMs: 0,
})
const save = (path: string, spool: string): IntentionDraft => ({
  kind: 'put',
  path,
  spool,
  size: 1,
  deferMs: 0,
})

/** Only refused jobs wait. */
function expectNothingWaits(what?: string): void {
  expect(taken, what).toEqual([])
  expect(setup.queue.starved(), what).toEqual([])
  for (const { intention } of setup.queue.jobs()) expect(intention.isRefused, what).toBe(true)
}

const chains: readonly (readonly [string, readonly IntentionDraft[], string])[] = [
  ['where the first one went', [move('/a', '/x'), move('/x', '/y'), save('/x', 's')], '/x'],
  [
    'where each took the name of the one before',
    [move('/a', '/x'), move('/b', '/a'), move('/c', '/b'), save('/c', 's')],
    '/c',
  ],
  [
    'where two went through one name',
    [move('/a', '/x'), move('/x', '/y'), move('/b', '/x'), move('/x', '/z'), save('/x', 's')],
    '/x',
  ],
  [
    'where the name was still being saved',
    [move('/a', '/x'), save('/y', 'first'), move('/x', '/y'), save('/x', 's')],
    '/x',
  ],
  ['where the first one came from', [move('/a', '/x'), save('/a', 's'), move('/x', '/y')], '/a'],
  [
    'where it went on and came back, and was saved under its other name',
    [move('/a', '/x'), move('/x', '/y'), move('/y', '/x'), save('/y', 's')],
    '/y',
  ],
  [
    'where the next one that took its name came from',
    [move('/a', '/x'), move('/b', '/x'), save('/b', 's')],
    '/b',
  ],
  [
    'where it went on from, over a document that was seen',
    [move('/a', '/x', 'seen'), move('/x', '/y', 'seen'), move('/y', '/z'), save('/y', 's')],
    '/y',
  ],
]

describe.each([
  ['whose contents can be brought here', false],
  ['of which nothing is left', true],
])('moves %s', (_, isVain) => {
  afterEach(end)

  it.each(chains)('%s', async (_, drafts, path) => {
    start()
    setup.isVain = isVain
    for (const draft of drafts) {
      setup.queue.submit(draft)
      await setup.pass(0)
    }
    begin()
    await setup.pass(600_000)
    expect(stored.get(path)).toBe('s')
    expectNothingWaits()
  })

  it('and a restart before what was refused has made way', async () => {
    start()
    setup.isVain = isVain
    for (const draft of [move('/a', '/x'), move('/b', '/x'), save('/b', 's')])
      setup.queue.submit({ ...draft, deferMs: 1_000 })
    const [first] = setup.queue.jobs()
    Object.assign(first?.intention ?? {}, { isRefused: true, errorErrno: 'ENOENT' })
    if (first !== undefined) setup.journal.intentions.save(first.intention)
    await setup.restart()
    begin()
    await setup.pass(600_000)
    expect(stored.get('/b')).toBe('s')
    expectNothingWaits()
  })
})

it('what stands at a name that such a move only passes through is not moved on in its place', async () => {
  start()
  setup.isVain = true
  setup.queue.submit(save('/x', 'first'))
  begin()
  await setup.pass(0)
  setup.queue.submit(move('/a', '/x', 'seen'))
  setup.queue.submit(move('/x', '/y'))
  await setup.pass(600_000)
  expect(stored).toEqual(new Map([['/x', 'first']]))
  expectNothingWaits()
  await end()
})

const mixtures = 200
const names = ['/a', '/b', '/c', '/d']

/** Moves of what is gone, and saves; and what was saved at each name last, where it was not moved over since. */
function mixture(seed: number): { drafts: IntentionDraft[]; saved: Map<string, string> } {
  const { pick, random, below } = chance(seed)
  const saved = new Map<string, string>()
  const gone = new Set(names)
  const drafts: IntentionDraft[] = []
  for (let count = 3 + below(8); count > 0; count--) {
    const path = pick(names)
    const from = pick([...gone, undefined])
    if (from === path) continue
    if (from === undefined || random() < 0.3) {
      drafts.push(save(path, String(count)))
      gone.delete(path)
      saved.set(path, String(count))
    } else {
      drafts.push(move(from, path, pick(['seen', undefined])))
      gone.delete(from)
      gone.add(path)
      saved.delete(path)
    }
  }
  return { drafts, saved }
}

it(`however moves and saves are mixed (${mixtures} mixtures)`, async () => {
  for (let seed = 0; seed < mixtures; seed++) {
    const { drafts, saved } = mixture(seed)
    start()
    setup.isVain = seed % 2 === 0
    for (const [at, draft] of drafts.entries()) {
      setup.queue.submit(draft)
      if ((seed + at) % 3 === 0) await setup.pass(0)
      if (at === seed % 7) begin()
    }
    begin()
    await setup.pass(5_000)
    const what = `mixture ${seed}: ${JSON.stringify(drafts)}`
    for (const [path, content] of saved) expect(stored.get(path), what).toBe(content)
    expectNothingWaits(what)
    await end()
  }
})
