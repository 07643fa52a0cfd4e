// Which version of a path may be replaced, by what was read, saved and shown there.

import { describe, expect, it } from 'vitest'

import { Seen } from '../../../src/fs/tree/seen.ts'

const v1 = '1@2026-11-26T10:00:00Z'
const v2 = '2@2026-11-26T11:00:00Z'
const v3 = '3@2026-11-26T12:00:00Z'
const f = '/f.txt'
const at = (program: string): { program: string } => ({ program })

function open(earlier?: string | null): { seen: Seen; pass: (ms: number) => void } {
  let now = 1_000_000
  const beganAt = Date.parse('2026-11-26T09:00:00Z')
  const seen = new Seen({ now: () => now, beganAt, mostShown: 100_000, earlier: () => earlier })
  return { seen, pass: (ms) => void (now += ms) }
}

describe('what was only shown', () => {
  it('counts once it was told to another process, or two seconds ago', () => {
    const { seen, pass } = open()
    seen.told(f, v1, at('a'))
    expect(seen.replaceable(f, at('a'))).toBeUndefined()
    expect(seen.replaceable(f, at('b'))).toBe(v1)
    pass(2_001)
    expect(seen.replaceable(f, at('a'))).toBe(v1)
  })

  it('is the older one until then', () => {
    const { seen, pass } = open()
    seen.told(f, v1, at('a'))
    pass(10_000)
    seen.told(f, v2, at('a'))
    expect(seen.replaceable(f, at('a'))).toBe(v1)
    seen.told(f, v2, at('b'))
    expect(seen.replaceable(f, at('a'))).toBe(v2)
  })

  it('goes by time alone where nobody tells programs apart', () => {
    const { seen, pass } = open()
    seen.told(f, v1, {})
    expect(seen.replaceable(f, {})).toBeUndefined()
    pass(2_001)
    expect(seen.replaceable(f, {})).toBe(v1)
  })

  it('is the same version where a listing does not tell its size', () => {
    const { seen, pass } = open()
    seen.told(f, v1.replace('1@', '?@'), {})
    pass(2_001)
    seen.told(f, v1, {})
    expect(seen.replaceable(f, {})).toBe(v1)
  })

  it('may have been shown by an earlier run; what was not there then has not been', () => {
    const before = open(v1).seen
    before.told(f, v2, {})
    expect(before.replaceable(f, {})).toBe(v1)
    const absent = open(null).seen
    absent.told(f, v1, {})
    expect(absent.replaceable(f, {})).toBeUndefined()
  })

  it('counts at once where it is older than the mount, and nothing else was ever known of its folder', () => {
    const { seen } = open()
    const old = '1@2026-11-26T08:00:00Z'
    expect(seen.replaceable(f, {}, old)).toBe(old)
    expect(seen.replaceable(f, {}, v1)).toBeUndefined()
  })
})

describe('what was read', () => {
  it('counts before what was shown, and not for a delete', () => {
    const { seen, pass } = open()
    seen.read(f, v1, at('a'))
    seen.told(f, v2, at('b'))
    pass(10_000)
    expect(seen.replaceable(f, at('c'))).toBe(v1)
    expect(seen.lastShown(f, at('c'))).toBe(v2)
  })

  it('is what the program itself read, where others have read another client’s newer version', () => {
    const { seen } = open()
    seen.read(f, v1, at('a'))
    seen.read(f, v2, at('b'))
    expect(seen.replaceable(f, at('a'))).toBe(v1)
    expect(seen.replaceable(f, at('c'))).toBe(v2)
    seen.read(f, v2, at('a'))
    expect(seen.replaceable(f, at('a'))).toBe(v2)
  })

  it('is what was saved here since, for every program', () => {
    const { seen } = open()
    seen.read(f, v1, at('a'))
    seen.wrote(f, v2)
    expect(seen.replaceable(f, at('a'))).toBe(v2)
    expect(seen.replaceable(f, at('b'))).toBe(v2)
  })

  it('is not what another saved that stands on a newer version', () => {
    const { seen } = open()
    seen.read(f, v1, at('a'))
    seen.read(f, v2, at('b'))
    seen.wrote(f, v3)
    expect(seen.replaceable(f, at('a'))).toBe(v1)
    expect(seen.replaceable(f, at('b'))).toBe(v3)
  })

  it('is known of a program as long as that runs, however many others come', () => {
    const { seen } = open()
    const isRunning = (program: string): boolean => program === 'editor'
    seen.read(f, v1, { program: 'editor', isRunning })
    for (let n = 0; n < 100; n++) seen.read(f, v1, { program: `cat ${n}`, isRunning })
    seen.read(f, v2, { program: 'cat', isRunning })
    expect(seen.replaceable(f, at('editor'))).toBe(v1)
  })

  it('is remembered for 100,000 documents; beyond that, what was shown counts', () => {
    const { seen, pass } = open()
    seen.told(f, v1, {})
    pass(10_000)
    seen.read(f, v1, {})
    for (let n = 0; n < 99_999; n++) seen.read(`/${n}.txt`, v1, {})
    seen.told(f, v2, {})
    pass(10_000)
    expect(seen.replaceable(f, {})).toBe(v1)
    seen.read('/one-more.txt', v1, {})
    seen.read('/and-one-more.txt', v1, {})
    expect(seen.replaceable(f, {})).toBe(v2)
  })
})

it('what was moved is known as far as it was where it stood', () => {
  const { seen } = open()
  seen.read(f, v1, {})
  seen.moved({ path: f, fingerprint: v1 }, '/known.txt', v2)
  expect(seen.replaceable('/known.txt', {})).toBe(v2)
  seen.moved({ path: f, fingerprint: v2 }, '/unseen.txt', v3)
  seen.told('/unseen.txt', v3, {})
  expect(seen.replaceable('/unseen.txt', {})).not.toBe(v3)
})
