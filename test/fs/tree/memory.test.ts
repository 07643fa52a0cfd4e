// Memory for names is bounded: by the drive's share, and by how long ago a program looked.

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Node } from '../../../src/fs/tree/node.ts'
import { leastMemoryBytes, sharesOf } from '../../../src/fs/tree/memory-shares.ts'
import { heldTimers } from '../../support/held-timers.ts'
import { startTestService, type TestService } from '../../support/service.ts'
import { setUpTree, ttlMs, type TreeSettings, type TreeSetup } from './tree-setup.ts'

const folders = 20
const perFolder = 25
const memory = { listingBytes: 20_000, nodes: 100, shown: 1_000 }

let testService: TestService
let drive: TreeSetup

beforeAll(async () => {
  testService = await startTestService()
  const paths = Array.from({ length: perFolder }, (_, row) =>
    Array.from({ length: folders }, (__, at) => `/f${at}/document ${row * folders + at}.txt`),
  )
  // One in each folder at a time.
  for (const row of paths) await Promise.all(row.map((path) => testService.other.put(path, path)))
})

afterEach(async () => {
  await drive.close()
})

afterAll(async () => {
  await testService.close()
})

async function open(settings: TreeSettings): Promise<void> {
  drive = await setUpTree(testService, undefined, settings)
  await drive.list()
}

/** As `ls -l` does: every name is looked up, and the kernel keeps what it was told. Answers the nodes by name. */
async function look(path: string): Promise<Map<string, Node>> {
  const found = new Map<string, Node>()
  await drive.list()
  for (const name of await drive.list(path)) {
    const node = drive.node(`${path}/${name}`)
    node?.door.remember()
    if (node !== undefined) found.set(name, node)
  }
  // The door is asked when what is going on has had its turn.
  await new Promise((resolve) => setImmediate(resolve))
  await new Promise((resolve) => setImmediate(resolve))
  return found
}

describe('a walk over more names than memory holds', () => {
  it('keeps the bound, and lists again what made room', async () => {
    await open({ memory })
    const first = await look('/f0')
    for (let at = 1; at < folders; at++) {
      await look(`/f${at}`)
      expect(drive.tree.listings.kept.bytes).toBeLessThanOrEqual(memory.listingBytes)
      expect(drive.tree.nodes.count).toBeLessThanOrEqual(memory.nodes + memory.nodes / 8 + perFolder)
    }
    // Otherwise nothing had to go.
    expect(drive.tree.listings.kept.names).toBeLessThan(folders * perFolder)
    await testService.other.put('/f0/new.txt', 'new')
    await testService.other.delete('/f0/document 0.txt')
    const again = await look('/f0')
    expect([...again.keys()].toSorted()).toEqual(
      [...first.keys(), 'new.txt'].filter((name) => name !== 'document 0.txt').toSorted(),
    )
    for (const [name, node] of again) if (name !== 'new.txt') expect(node.ino).toBe(first.get(name)?.ino)
  })

  it('keeps what is open, and what is true only here', async () => {
    await open({ memory })
    const opened = [...(await look('/f0')).values()][0] as Node
    opened.door.opened()
    const made = drive.made('/f0/made here.txt')
    for (let at = 1; at < folders; at++) await look(`/f${at}`)
    expect(drive.tree.nodes.find(opened.ino)).toBe(opened)
    expect(drive.tree.nodes.find(made.ino)).toBe(made)
  })

  it('keeps a listing that is larger than all memory alone', async () => {
    await open({ memory: { listingBytes: 1_000, nodes: 200, shown: 1_000 } })
    await look('/f0')
    const folder = drive.node('/')?.folder
    expect(folder).toBeDefined()
    expect(drive.tree.listings.kept.names).toBeGreaterThanOrEqual(perFolder)
  })
})

describe('a listing', () => {
  it('is counted as what it takes, and for less where it is packed for want of room', async () => {
    await open({ memory: { listingBytes: 1_000_000, nodes: 200, shown: 1_000 } })
    await look('/f0')
    const roomy = drive.tree.listings.kept
    await drive.close()
    await open({ memory: { listingBytes: 100_000, nodes: 200, shown: 1_000 } })
    await look('/f0')
    const packed = drive.tree.listings.kept
    expect(packed.names).toBe(roomy.names)
    expect(packed.bytes).toBeLessThan(roomy.bytes / 2)
    expect([...(await look('/f0')).keys()]).toHaveLength(perFolder)
  })
})

describe('a listing nobody looked at for its time to live', () => {
  it('is given up, and the folder has not changed by that', async () => {
    const timers = heldTimers()
    await open({ timers })
    const folder = drive.node('/f1') as Node
    folder.door.remember()
    await look('/f1')
    folder.folder?.markListed()
    const { mtime } = folder.times
    timers.fire()
    expect(drive.tree.listings.known(folder)).toBeDefined()
    drive.pass(ttlMs)
    timers.fire()
    expect(drive.tree.listings.known(folder)).toBeUndefined()
    await drive.tree.loadFresh(folder)
    expect(folder.times.mtime).toEqual(mtime)
    drive.pass(ttlMs)
    timers.fire()
    await testService.other.put('/f1/new.txt', 'new')
    await drive.tree.loadFresh(folder)
    expect(folder.times.mtime).not.toEqual(mtime)
  })
})

it('a drive cannot do with less than it needs', async () => {
  await open({ memory: sharesOf(leastMemoryBytes) })
  expect(() => sharesOf(leastMemoryBytes - 1)).toThrow('at least 192 MiB')
  expect(() => sharesOf(NaN)).toThrow('at least 192 MiB')
})
