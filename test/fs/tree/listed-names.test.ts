// The names of a folder are the same whether they are packed yet or not, and the oldest are packed for want of room.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RemoteFile, RemoteFolder } from '../../../src/api/types.ts'
import { JustListed } from '../../../src/fs/tree/just-listed.ts'
import { ListedNames } from '../../../src/fs/tree/listed-names.ts'

function file(name: string, size = 7): RemoteFile {
  return {
    kind: 'file',
    name,
    size,
    mimetype: 'text/plain',
    modifiedAt: '2026-01-02T03:04:05.006Z',
    url: `https://store.example/api/download/${name}?expires=1`,
  }
}

function listing(count: number): ListedNames {
  return new ListedNames(Array.from({ length: count }, (_, at) => file(`document ${at}.txt`)))
}

const anyName = fc.constantFrom('a', 'b', 'c', 'é', '名')
const anyRecord = fc.oneof(
  anyName.map((name): RemoteFolder => ({ kind: 'folder', name })),
  fc.tuple(anyName, fc.nat()).map(([name, size]) => file(name, size)),
)

describe('listed names', () => {
  it('are what a map of the same records is, packed or not', () => {
    fc.assert(
      fc.property(fc.array(anyRecord), fc.boolean(), fc.array(anyName), (records, isPacked, hidden) => {
        const map = new Map<string, RemoteFile | RemoteFolder>(records.map((record) => [record.name, record]))
        const names = new ListedNames(records)
        if (isPacked) names.pack()
        expect(names.size).toBe(map.size)
        for (const name of ['a', 'b', 'c', 'é', '名'])
          expect([names.has(name), names.get(name)]).toEqual([map.has(name), map.get(name)])
        expect([...names.keys()].toSorted()).toEqual([...map.keys()].toSorted())
        for (const record of names.values()) expect(record).toEqual(map.get(record.name))
        const ofKinds = [...names.namesOf('file'), ...names.namesOf('folder')]
        expect(ofKinds.toSorted()).toEqual([...map.keys()].toSorted())
        const left = [...map.values()]
          .filter(({ name }) => !hidden.some((each) => each === name))
          .toReversed()
        expect(names.digestWithout(new Set(hidden))).toBe(new ListedNames(left).digestWithout([]))
      }),
    )
  })
})

describe('what was listed last', () => {
  const each = listing(10).bytes

  function opened(mostBytes: number): { just: JustListed; packed: number[] } {
    const packed: number[] = []
    return { just: new JustListed({ mostBytes, packed: (ino) => void packed.push(ino) }), packed }
  }

  it('stays as it came while there is room', () => {
    const { just, packed } = opened(3 * each)
    const all = [1, 2, 3].map((ino) => ({ ino, names: listing(10) }))
    for (const { ino, names } of all) just.add(ino, names)
    expect(packed).toEqual([])
    just.add(4, listing(10))
    expect(packed).toEqual([1])
    expect(all.map(({ names }) => names.bytes < each / 2)).toEqual([true, false, false])
  })

  it('makes room for what came later, and what is too large alone is packed at once', () => {
    const { just, packed } = opened(2 * each)
    for (const ino of [1, 2, 3]) just.add(ino, listing(10))
    expect(packed).toEqual([1])
    just.add(4, listing(30))
    expect(packed).toEqual([1, 2, 3, 4])
  })

  it('counts a folder once, and one that is gone not at all', () => {
    const { just, packed } = opened(2 * each)
    for (const ino of [1, 1, 1, 2]) just.add(ino, listing(10))
    just.forget(2)
    just.add(3, listing(10))
    expect(packed).toEqual([])
  })
})
