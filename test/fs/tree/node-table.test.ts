// Which nodes are there, and how long.

import { expect, it } from 'vitest'
import { NodeTable } from '../../../src/fs/tree/node-table.ts'

it('what is left of a node that was dropped takes nothing from the one that has its number now', () => {
  const nodes = new NodeTable()
  const before = nodes.add('folder', nodes.root, 'd')
  nodes.dropIfUnused(before)
  const now = nodes.add('folder', nodes.root, 'd', before.ino)
  now.door.remember()
  // Somebody went on looking at the folder as it was.
  const late = nodes.add('file', before, 'a.txt')
  nodes.dropIfUnused(late)
  expect(nodes.find(before.ino)).toBe(now)
  nodes.putLast(before)
  expect(nodes.find(before.ino)).toBe(now)
  expect(nodes.root.folder?.children.get('d')).toBe(now)
})
