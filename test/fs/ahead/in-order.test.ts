// Recognising a program that takes names one after another.

import { describe, expect, it } from 'vitest'
import { successors } from '../../../src/fs/ahead/in-order.ts'
import type { Listing } from '../../../src/fs/tree/listings.ts'
import { ListedNames } from '../../../src/fs/tree/listed-names.ts'

const listing: Listing = {
  requestedAt: 0,
  names: new ListedNames(['d', 'a', 'c', 'b', 'e'].map((name) => ({ kind: 'folder', name }))),
}
const after = (previous: string | undefined, current: string, count = 9): readonly string[] =>
  successors(listing, 'folder', { previous, current, count })

describe('successors', () => {
  it('the first name tells nothing', () => expect(after(undefined, 'd')).toEqual([]))
  it('the second in the listed order is followed by the rest of it', () =>
    expect(after('d', 'a')).toEqual(['c', 'b', 'e']))
  it('the second in sorted order is followed by the rest of that', () =>
    expect(after('a', 'b')).toEqual(['c', 'd', 'e']))
  it('no more than asked for', () => expect(after('d', 'a', 1)).toEqual(['c']))
  it('a jump is no walk', () => expect(after('d', 'e')).toEqual([]))
  it('names of the other kind do not count', () => {
    expect(successors(listing, 'file', { previous: 'd', current: 'a', count: 9 })).toEqual([])
  })
})
