// Other clients’ changes in a folder, by what it showed before and shows now.

import { expect, test } from 'vitest'
import type { RemoteFile, RemoteFolder } from '../../../src/api/types.ts'
import type { Finding } from '../../../src/fs/operations.ts'
import { changesOfOthers } from '../../../src/fs/tree/changes-of-others.ts'
import { ListedNames } from '../../../src/fs/tree/listed-names.ts'
import { Node } from '../../../src/fs/tree/node.ts'

const file = (name: string, size?: number, second = 1): RemoteFile => ({
  kind: 'file',
  name,
  mimetype: undefined,
  url: undefined,
  modifiedAt: `2026-11-27T08:00:0${second}Z`,
  size,
})
const folder = (name: string): RemoteFolder => ({ kind: 'folder', name })

interface Case {
  readonly before?: readonly (RemoteFile | RemoteFolder)[]
  readonly now?: readonly (RemoteFile | RemoteFolder)[]
  readonly kept?: readonly string[]
  readonly keptBefore?: readonly string[]
  readonly hiddenBefore?: readonly string[]
  readonly nodes?: readonly Node[]
  readonly found: readonly string[]
}

const cases: Readonly<Record<string, Case>> = {
  'nothing changed': { before: [file('a', 1), folder('b')], now: [file('a', 1), folder('b')], found: [] },
  'a document came': { now: [file('a', 1)], found: ['made file a'] },
  'a document went': { before: [file('a', 1)], found: ['gone file a'] },
  'a folder came, another went': {
    before: [folder('a')],
    now: [folder('b')],
    found: ['gone folder a', 'made folder b'],
  },
  'another version': { before: [file('a', 1)], now: [file('a', 1, 2)], found: ['changed file a'] },
  'a listing that tells less of the same version': {
    before: [file('a', 1)],
    now: [file('a')],
    found: [],
  },
  'another version of a document that has a node, which is told where the node takes it up': {
    before: [file('a', 1)],
    now: [file('a', 2, 2)],
    nodes: [new Node(7, 'file', undefined, 'a')],
    found: [],
  },
  'a document is a folder now': {
    before: [file('a', 1)],
    now: [folder('a')],
    found: ['gone file a', 'made folder a'],
  },
  'made here': { now: [file('a', 1)], kept: ['a'], keptBefore: ['a'], found: [] },
  'made here, and left to the listings now': { now: [file('a', 1)], keptBefore: ['a'], found: [] },
  'made here, and taken away by another client': {
    keptBefore: ['a'],
    nodes: [new Node(7, 'file', undefined, 'a')],
    found: ['gone file a 7'],
  },
  'deleted here': { before: [file('a', 1)], hiddenBefore: ['a'], found: [] },
  'deleted here, and made anew by another client': {
    before: [file('a', 1)],
    hiddenBefore: ['a'],
    now: [file('a', 1, 2)],
    found: ['made file a'],
  },
}

for (const [
  name,
  { before = [], now = [], kept = [], keptBefore = [], hiddenBefore = [], nodes = [], found },
] of Object.entries(cases)) {
  test(name, () => {
    const told = new ListedNames(before)
    const changes = changesOfOthers({
      before: (child) => (hiddenBefore.includes(child) ? undefined : told.get(child)),
      namesBefore: [...told.keys(), ...keptBefore],
      now: new ListedNames(now),
      wasOurs: (child) => keptBefore.includes(child),
      isOurs: (child) => kept.includes(child),
      nodesBefore: new Map(nodes.map((node) => [node.name, node])),
    })
    expect(changes.map(inWords)).toEqual(found)
  })
}

function inWords({ what, kind, name, ino }: Finding): string {
  return `${what} ${kind} ${name}${ino === undefined ? '' : ` ${ino}`}`
}
