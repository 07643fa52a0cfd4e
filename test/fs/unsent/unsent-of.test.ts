// Unsent changes as people are told of them, whether a drive is running or left them behind.

import { expect, it } from 'vitest'
import { intend, type IntentionDraft } from '../../../src/content/intention.ts'
import { unsentOf } from '../../../src/fs/unsent/unsent-of.ts'

const now = 1_000_000
const at = (draft: IntentionDraft, isRunning = false) =>
  unsentOf(intend(1, draft, now), { isRunning, now, spoolDir: '/spool' })

it.each<[string, IntentionDraft, object]>([
  ['a new document is an upload', { kind: 'put', path: '/f', spool: 's', size: 3 }, { action: 'upload', bytes: 3, spoolFile: '/spool/s' }],
  ['a save over one is a replace', { kind: 'put', path: '/f', spool: 's', size: 3, base: 'v1' }, { action: 'replace' }],
  ['a move is a rename and sends no bytes', { kind: 'put', path: '/f', source: '/e', size: 3 }, { action: 'rename', bytes: 0, spoolFile: undefined }],
  ['a copy within the service is an upload without bytes', { kind: 'put', path: '/f', source: '/e', keepSource: true, size: 3 }, { action: 'upload', bytes: 0 }],
  ['a delete is a delete', { kind: 'delete', path: '/f' }, { action: 'delete', bytes: 0 }],
  ['what is left of a renamed folder is a delete', { kind: 'prune', path: '/d' }, { action: 'delete' }],
])('%s', (_title, draft, told) => {
  expect(at(draft)).toMatchObject(told)
}) // prettier-ignore

it('a state is sending while it runs, refused where the service said no, retrying while it waits after a failure', () => {
  const intention = intend(1, { kind: 'put', path: '/f', spool: 's' }, now)
  const state = (isRunning: boolean) => unsentOf(intention, { isRunning, now, spoolDir: '/spool' }).state
  expect([state(false), state(true)]).toEqual(['pending', 'sending'])
  intention.lastError = 'PUT /f: 500'
  intention.notBefore = now + 1_000
  expect(state(false)).toBe('retrying')
  intention.isRefused = true
  expect(state(true)).toBe('refused')
})
