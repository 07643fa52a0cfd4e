// What becomes of an idle intention when a newer one for the same path arrives.

import { describe, expect, it } from 'vitest'
import {
  intend,
  isMergeable,
  isUnder,
  merge,
  pathsOf,
  type IntentionDraft,
} from '../../src/content/intention.ts'

const put = (more: Partial<IntentionDraft> = {}): IntentionDraft => ({
  kind: 'put',
  path: '/f',
  spool: 's1',
  ...more,
})
const sent = { size: 1, sha256: 'a' }
const remove: IntentionDraft = { kind: 'delete', path: '/f' }

/** [older, newer, what takes their place] */
const cases: [string, IntentionDraft, IntentionDraft, Partial<IntentionDraft> | undefined][] = [
  ['a save over a save is the newer one, on the older base', put({ base: 'v1' }), put({ spool: 's2', base: 'v0' }), { spool: 's2', base: 'v1' }],
  ['a delete of what was never sent is nothing', put(), remove, undefined],
  ['a delete of what replaces a stored version is a delete', put({ base: 'v1' }), remove, { kind: 'delete', base: 'v1' }],
  ['a delete of what may have arrived is a delete', put({ isInDoubt: true }), remove, { kind: 'delete', isInDoubt: true }],
  ['a save of a name just deleted is one replace', { ...remove, base: 'v1' }, put(), { kind: 'put', base: 'v1' }],
  ['what was sent is inherited, also by a delete', put({ doubts: [sent] }), remove, { kind: 'delete', doubts: [sent] }],
] // prettier-ignore

describe('merge', () => {
  for (const [title, older, newer, expected] of cases) {
    it(title, () => {
      const merged = merge(intend(1, older, 0), newer, false)
      if (expected === undefined) expect(merged).toBeUndefined()
      else expect(merged).toMatchObject(expected)
    })
  }

  it('a move is seen through: something else may be put at its source', () => {
    expect(isMergeable(put({ source: '/a' }))).toBe(false)
    expect(isMergeable(put({ source: '/f' }))).toBe(true)
    expect(isMergeable(put())).toBe(true)
  })
})

describe('paths', () => {
  it('a move concerns both its paths, a save its own', () => {
    expect(pathsOf(put({ source: '/a' }))).toEqual(['/f', '/a'])
    expect(pathsOf(put({ source: '/f' }))).toEqual(['/f'])
  })

  it('under a folder is the folder and what is below, not what begins alike', () => {
    expect(isUnder('/a/b', '/a')).toBe(true)
    expect(isUnder('/a', '/a')).toBe(true)
    expect(isUnder('/ab', '/a')).toBe(false)
    expect(isUnder('/anything', '/')).toBe(true)
  })
})
