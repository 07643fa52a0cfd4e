import { expect, test } from 'vitest'
import { uuidPattern } from '../../src/service/schemas.ts'
import { createNodeId } from '../../src/service/store/node-id.ts'

test('ids of nodes are uuids of version 7: in the order of their times, and no two the same', () => {
  const times = [0, 1, 0xffff, 1_750_000_000_000, 1_750_000_000_001, 2 ** 48 - 1]
  const ids = times.map(createNodeId)
  expect(ids.toSorted()).toEqual(ids)
  for (const id of ids) {
    expect(id).toMatch(uuidPattern)
    expect(id).toMatch(/^.{14}7.{4}[89ab]/)
  }
  expect(new Set(Array.from({ length: 1000 }, () => createNodeId(1))).size).toBe(1000)
})
