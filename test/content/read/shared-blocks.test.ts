// Which blocks a new reader joins, and which a save of their path forgets.

import { expect, test } from 'vitest'
import type { Version } from '../../../src/content/fingerprint.ts'
import { SharedBlocks } from '../../../src/content/read/shared-blocks.ts'
import type { VersionBlocks } from '../../../src/content/read/version-blocks.ts'

const version = (path: string, fingerprint: string): Version => ({ path, fingerprint, size: 1 })
/** Of the blocks of a version this is all that is looked at. */
const of = (path: string, fingerprint: string): VersionBlocks & { version: Version } =>
  ({ version: version(path, fingerprint) }) as VersionBlocks

test('a path has the versions that are shared of it, and no others', () => {
  const shared = new SharedBlocks()
  const [a1, a2, b1] = [of('/a', '1'), of('/a', '2'), of('/b', '1')]
  for (const blocks of [a1, a2, b1]) shared.set(blocks)
  expect(shared.at('/a')).toEqual([a1, a2])
  expect(shared.get(version('/a', '2'))).toBe(a2)
  for (const blocks of shared.at('/a')) shared.delete(blocks)
  expect(shared.at('/a')).toEqual([])
  expect(shared.get(version('/a', '2'))).toBeUndefined()
  expect(shared.get(version('/b', '1'))).toBe(b1)
})

test('what took the place of others is not taken away with them', () => {
  const shared = new SharedBlocks()
  const [former, latter] = [of('/a', '1'), of('/a', '1')]
  shared.set(former)
  shared.set(latter)
  shared.delete(former)
  expect(shared.at('/a')).toEqual([latter])
  expect(shared.get(version('/a', '1'))).toBe(latter)
})
