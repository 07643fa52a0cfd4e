// Every operation with its path, its result and its time.

import { expect, it } from 'vitest'
import type { OperationRecord } from '../../../src/fs/contract.ts'
import { traced } from '../../../src/fs/wrappers/traced.ts'
import { objectDoor } from '../../support/object-door.ts'
import { openParts } from '../../support/open-parts.ts'

it('tells paths, bytes, what is not there, and errors', async () => {
  await using parts = await openParts({ '/d/a.txt': 'content' })
  const { sb } = parts
  const told: OperationRecord[] = []
  const places = {
    node: (ino: number) => sb.tree.nodes.find(ino)?.path ?? `node ${ino}`,
    handle: (fh: number) => sb.handles.find(fh)?.node.path ?? `handle ${fh}`,
  }
  const calls = objectDoor(traced(parts.operations, places, (record) => void told.push(record), sb.clock))
  const during = async (work: Promise<unknown>): Promise<string[]> => {
    told.length = 0
    await work.catch(() => {})
    return told.map(({ operation, path, result }) => `${operation} ${path} ${result}`)
  }
  expect(await during(calls.readFile('/d/a.txt'))).toEqual(
    expect.arrayContaining([
      'lookup /d ok',
      'lookup /d/a.txt ok',
      'open /d/a.txt ok',
      'read /d/a.txt 7',
      'release /d/a.txt ok',
    ]),
  )
  expect(await during(calls.stat('/none.txt'))).toContain('lookup /none.txt ENOENT')
  expect(await during(calls.writeFile('/b.txt', 'ours'))).toEqual(
    expect.arrayContaining(['create /b.txt ok', 'write /b.txt 4', 'flush /b.txt ok']),
  )
  expect(await during(calls.rename('/b.txt', '/d/c.txt'))).toContain('rename /b.txt → /d/c.txt ok')
  expect(await during(calls.rmdir('/d'))).toContain('rmdir /d ENOTEMPTY')
  expect(await during(calls.mkdir('/d'))).toContain('mkdir /d EEXIST')
  expect(told.every(({ elapsedUs }) => elapsedUs >= 0)).toBe(true)
})
