// Packed names are a map from names to records, in the order they came, at a fraction of its memory.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RemoteFile, RemoteFolder } from '../../../src/api/types.ts'
import { PackedNames } from '../../../src/fs/tree/packed-names.ts'

type Told = RemoteFile | RemoteFolder

function file(name: string, rest: Partial<RemoteFile> = {}): RemoteFile {
  return {
    kind: 'file',
    name,
    size: undefined,
    mimetype: undefined,
    modifiedAt: undefined,
    url: undefined,
    ...rest,
  }
}

const signed = (id: string): string =>
  `https://store.example/api/download/${id}?expires=1767225600000&signature=${id}${'a'.repeat(40)}`

const anyName = fc.oneof(
  fc.constantFrom('a', 'b', 'c', 'é', '名', '😀'),
  fc
    .string({ unit: 'binary', minLength: 1, maxLength: 90 })
    .filter((name) => name.match(/\p{Surrogate}/u) === null),
)
const anyFile = fc.record({
  size: fc.option(fc.maxSafeNat(), { nil: undefined }),
  mimetype: fc.option(fc.constantFrom('application/pdf', 'text/plain', ''), { nil: undefined }),
  modifiedAt: fc.option(
    fc.constantFrom(
      '2026-01-02T03:04:05.006Z',
      '2026-01-02T03:04:05Z',
      '2026-01-02T03:04:05.006007+02:00',
      'lately',
      '',
    ),
    { nil: undefined },
  ),
  url: fc.option(
    fc.oneof(
      fc.uuid().map(signed),
      fc.webUrl({ withQueryParameters: true }),
      fc.constantFrom('', '/', 'x'.repeat(5_000)),
    ),
    { nil: undefined },
  ),
})
const anyTold: fc.Arbitrary<(name: string) => Told> = fc.oneof(
  fc.constant((name: string): Told => ({ kind: 'folder', name })),
  anyFile.map(
    (rest) =>
      (name: string): Told =>
        file(name, rest),
  ),
)
const anyChange = fc.tuple(anyName, fc.option(anyTold, { nil: undefined, freq: 4 }))

describe('packed names', () => {
  it('are what a map of the same changes is', () => {
    fc.assert(
      fc.property(
        fc.array(anyChange, { maxLength: 60 }),
        fc.integer({ min: 0, max: 40 }),
        (changes, expected) => {
          const map = new Map<string, Told>()
          const packed = new PackedNames([], expected)
          for (const [name, make] of changes) {
            if (make === undefined) expect(packed.delete(name)).toBe(map.delete(name))
            else {
              map.set(name, make(name))
              packed.set(name, make(name))
            }
            expect(packed.get(name)).toEqual(map.get(name))
          }
          expect(packed.size).toBe(map.size)
          expect([...packed.keys()].toSorted()).toEqual([...map.keys()].toSorted())
          for (const record of packed.values()) expect(record).toEqual(map.get(record.name))
          for (const [name, record] of map)
            expect([packed.has(name), packed.get(name)]).toEqual([true, record])
          const kinds = (kind: Told['kind']): string[] => [...packed.namesOf(kind)]
          expect([...kinds('file'), ...kinds('folder')].toSorted()).toEqual([...map.keys()].toSorted())
        },
      ),
    )
  })

  it('have one sum for the same names, in whatever order and with whatever records', () => {
    const one = new PackedNames([file('a'), file('b', { size: 1 })])
    const other = new PackedNames([file('gone'), file('b'), file('a', { url: signed('1') })])
    expect(other.sum).not.toBe(one.sum)
    other.delete('gone')
    expect(other.sum).toBe(one.sum)
    expect(new PackedNames([file('a'), file('c')]).sum).not.toBe(one.sum)
  })

  it('keep their places, also of what goes and comes back', () => {
    const names = new PackedNames([file('a'), file('b'), file('c')])
    names.delete('b')
    names.set('d', file('d'))
    names.set('b', file('b', { size: 7 }))
    expect([0, 1, 2, 3, 4].map((place) => names.nameAt(place))).toEqual(['a', 'b', 'c', 'd', undefined])
    expect([...names.keys()]).toEqual(['a', 'b', 'c', 'd'])
  })

  it('take less than 250 bytes each, presigned URLs included', () => {
    const records = Array.from({ length: 1000 }, (_, at) =>
      file(`Invoice 2026-${at} of some supplier.pdf`, {
        size: at,
        mimetype: 'application/pdf',
        modifiedAt: '2026-01-02T03:04:05.006Z',
        url: signed(crypto.randomUUID()),
      }),
    )
    const names = new PackedNames(records, records.length)
    expect([...names.values()]).toEqual(records)
    expect(names.bytes / records.length).toBeLessThan(250)
  })
})
