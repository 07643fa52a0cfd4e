// Merging an idle intention with a newer one for the same path.

import { describe, expect, it } from 'vitest'
import { unseen } from '../../src/content/fingerprint.ts'
import {
  intend,
  isMergeable,
  merge,
  pathsOf,
  succession,
  type Intention,
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
  ['a delete of what may have arrived is a delete', put({ isOutcomeUnknown: true }), remove, { kind: 'delete', isOutcomeUnknown: true }],
  ['a save of a name just deleted is one replace', { ...remove, base: 'v1' }, put(), { kind: 'put', base: 'v1' }],
  ['what was sent is inherited, also by a delete', put({ sentDigests: [sent] }), remove, { kind: 'delete', sentDigests: [sent] }],
] // prettier-ignore

describe('merge', () => {
  for (const [title, older, newer, expected] of cases) {
    it(title, () => {
      const merged = merge(intend(1, older, 0), newer, false)
      if (expected === undefined) expect(merged).toBeUndefined()
      else expect(merged).toMatchObject(expected)
    })
  }

  it('a delete of a refused move of unknown content takes no document that stands there by now', () => {
    const older = intend(1, put({ spool: undefined, source: '/f', isOutcomeUnknown: true }), 0)
    expect(merge({ ...older, isRefused: true }, remove, false)).toMatchObject({
      kind: 'delete',
      base: unseen,
    })
    expect(merge(older, remove, false)?.base).toBeUndefined()
  })

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
})

describe('succession of what was refused', () => {
  const refused = (draft: IntentionDraft): Intention => intend(1, draft, 0)

  it.each<[string, IntentionDraft, IntentionDraft, object[] | undefined]>([
    [
      'a save over a move moves there in its place',
      { kind: 'put', path: '/c', source: '/a', sourceFingerprint: 'v1' },
      { kind: 'put', path: '/c', spool: '2' },
      [{ kind: 'put', path: '/c', spool: '2', source: '/a', sourceFingerprint: 'v1' }],
    ],
    [
      'content that has no digest has none, whatever the older content’s was',
      { kind: 'put', path: '/a', spool: '1', digest: sent },
      { kind: 'put', path: '/c', spool: '2', source: '/a' },
      [{ kind: 'put', path: '/c', spool: '2', digest: undefined }],
    ],
    [
      'content that is moved on keeps its digest',
      { kind: 'put', path: '/a', spool: '1', digest: sent },
      { kind: 'put', path: '/c', source: '/a' },
      [{ kind: 'put', path: '/c', spool: '1', digest: sent }],
    ],
    [
      'a delete after a move deletes what was to be moved',
      { kind: 'put', path: '/c', source: '/a', sourceFingerprint: 'v1' },
      { kind: 'delete', path: '/c' },
      [{ kind: 'delete', path: '/a', base: 'v1' }],
    ],
    [
      'and what it was to replace',
      { kind: 'put', path: '/c', source: '/a', sourceFingerprint: 'v1', base: 'v2' },
      { kind: 'delete', path: '/c' },
      [
        { kind: 'delete', path: '/c', base: 'v2' },
        { kind: 'delete', path: '/a', base: 'v1' },
      ],
    ],
    [
      'another move to the same place deletes what the first was to move',
      { kind: 'put', path: '/c', source: '/a', sourceFingerprint: 'v1' },
      { kind: 'put', path: '/c', source: '/b', sourceFingerprint: 'v3' },
      [
        { kind: 'put', path: '/c', source: '/b', sourceFingerprint: 'v3' },
        { kind: 'delete', path: '/a', base: 'v1' },
      ],
    ],
    [
      'a save over a copy leaves the original alone',
      { kind: 'put', path: '/c', source: '/a', keepSource: true },
      { kind: 'put', path: '/c', spool: '2' },
      [{ kind: 'put', path: '/c', spool: '2' }],
    ],
    [
      'a move of a move goes straight from where the document is',
      { kind: 'put', path: '/c', source: '/a', sourceFingerprint: 'v1' },
      { kind: 'put', path: '/d', source: '/c' },
      [{ kind: 'put', path: '/d', source: '/a', sourceFingerprint: 'v1', keepSource: false }],
    ],
    [
      'a move back is nothing at all',
      { kind: 'put', path: '/c', source: '/a', sourceFingerprint: 'v1' },
      { kind: 'put', path: '/a', source: '/c' },
      [],
    ],
    [
      'a move of a save that never arrived is that save elsewhere',
      { kind: 'put', path: '/c', spool: '1', size: 3 },
      { kind: 'put', path: '/d', source: '/c', spool: '1', size: 3 },
      [{ kind: 'put', path: '/d', spool: '1', size: 3 }],
    ],
    [
      'a move of a save over takes the version before away',
      { kind: 'put', path: '/c', spool: '1', base: 'v1' },
      { kind: 'put', path: '/d', source: '/c' },
      [{ kind: 'put', path: '/d', spool: '1', source: '/c', sourceFingerprint: 'v1' }],
    ],
    [
      'a move of a save that may have arrived takes that away, too',
      { kind: 'put', path: '/c', spool: '1', base: 'v1', sentDigests: [sent] },
      { kind: 'put', path: '/d', source: '/c' },
      [{ kind: 'put', path: '/d', spool: '1', source: '/c', sourceFingerprint: 'v1', sentDigests: [sent] }],
    ],
    [
      'a move of what moved to where a save may have arrived leaves nothing of that',
      { kind: 'put', path: '/c', source: '/a', base: 'v1', sentDigests: [sent] },
      { kind: 'put', path: '/d', source: '/c' },
      [
        { kind: 'put', path: '/d', source: '/a' },
        { kind: 'delete', path: '/c', base: 'v1', sentDigests: [sent] },
      ],
    ],
    [
      'a document whose delete was refused is moved',
      { kind: 'delete', path: '/c', base: 'v1' },
      { kind: 'put', path: '/d', source: '/c', sourceFingerprint: 'v1' },
      [{ kind: 'put', path: '/d', source: '/c', sourceFingerprint: 'v1' }],
    ],
    [
      'what only shares the source stays behind it',
      { kind: 'put', path: '/c', source: '/a' },
      { kind: 'put', path: '/a', spool: '2' },
      undefined,
    ],
  ])('%s', (_title, older, newer, wanted) => {
    const drafts = succession(refused(older), newer)
    if (wanted === undefined) expect(drafts).toBeUndefined()
    else expect(drafts).toMatchObject(wanted)
    expect(drafts?.length).toBe(wanted?.length)
  })
})
