// Moves one after another, whose sources another client deleted: they end refused, and hold up nothing that is saved.

import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { ApiError } from '../../../src/api/errors.ts'
import type { RemoteFile } from '../../../src/api/types.ts'
import type { Intention, IntentionDraft } from '../../../src/content/intention.ts'
import { setUpQueue, type QueueSetup } from './queue-setup.ts'

let setup: QueueSetup
let stored: string[]
/** What was saved anew and then taken away by a move that came before it. */
let taken: string[]
/** Until this is called nothing is answered. */
let begin: () => void

beforeEach(() => {
  stored = []
  taken = []
  const begun = new Promise<void>((resolve) => (begin = resolve))
  setup = setUpQueue(async (intention: Intention): Promise<RemoteFile | undefined> => {
    await begun
    const { path, source, spool, isRefused } = intention
    if (source !== undefined && spool === undefined && !isRefused && stored.includes(source))
      taken.push(source)
    if (source !== undefined && spool === undefined && !isRefused)
      throw new ApiError({ method: 'PUT', path }, 404, 'its source is gone')
    if (isRefused) return undefined
    stored.push(path)
    return {
      kind: 'file',
      name: path,
      size: 1,
      modifiedAt: new Date(stored.length).toISOString(),
    } as RemoteFile
  })
})

afterEach(async () => {
  await setup.close()
  vi.useRealTimers()
})

const move = (source: string, path: string): IntentionDraft => ({ kind: 'put', path, source, restMs: 0 })
const save = (path: string, spool: string): IntentionDraft => ({
  kind: 'put',
  path,
  spool,
  size: 1,
  restMs: 0,
})

it.each<[string, readonly IntentionDraft[], string]>([
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
])('%s', async (_, drafts, path) => {
  for (const draft of drafts) {
    setup.queue.submit(draft)
    await setup.pass(0)
  }
  begin()
  await setup.pass(600_000)
  expect(stored).toContain(path)
  expect(taken).toEqual([])
  expect(setup.queue.overlooked()).toEqual([])
  for (const { intention } of setup.queue.jobs()) expect(intention.isRefused).toBe(true)
})
