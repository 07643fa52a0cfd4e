// Times that the service has no place for: what a restart leaves of them, and a folder nobody looked at for a while.

import { describe, expect, it } from 'vitest'

import { FolderTimes } from '../../../src/fs/tree/folder-times.ts'
import { Node } from '../../../src/fs/tree/node.ts'
import { openHeld } from '../../support/open-held.ts'

/** 2001-02-03 04:05:06 UTC. */
const longAgoSec = 981_173_106
const nanoseconds = 1_000_000_000n

describe('after a restart', () => {
  it('times that were set on a document are told, each for itself', async () => {
    await using drive = await openHeld({ '/a.txt': 'a', '/b.txt': 'b' })
    await drive.calls().utimes('/a.txt', longAgoSec, longAgoSec + 60)
    await drive.restart()
    expect(await drive.calls().stat('/a.txt')).toMatchObject({
      atimeNs: BigInt(longAgoSec) * nanoseconds,
      mtimeNs: BigInt(longAgoSec + 60) * nanoseconds,
    })
  })

  it('a folder’s time is no earlier than what was shown before', async () => {
    await using drive = await openHeld({ '/d/a.txt': 'a' })
    await drive.calls().writeFile('/d/b.txt', 'b')
    const before = await drive.calls().stat('/d')
    await drive.restart()
    expect((await drive.calls().stat('/d')).mtimeNs).toBeGreaterThanOrEqual(before.mtimeNs)
  })
})

describe('the times of folders without a node', () => {
  const root = new Node(1, 'folder', undefined, '')
  const folder = (name: string): Node => new Node(2, 'folder', root, name)

  it('are told again', () => {
    const times = new FolderTimes()
    const node = folder('d')
    times.changed(node, 1_500)
    times.left(node)
    const again = folder('d')
    times.recall(again)
    expect(again.times).toMatchObject({ mtime: { sec: 1, nsec: 5e8 }, ctime: { sec: 1, nsec: 5e8 } })
  })

  it('do not go back when there are too many to remember', () => {
    const times = new FolderTimes(1)
    for (const [name, ms] of [
      ['d', 5_000],
      ['e', 4_000],
    ] as const) {
      const node = folder(name)
      times.changed(node, ms)
      times.left(node)
    }
    const again = folder('d')
    times.recall(again)
    expect(again.times.mtime).toEqual({ sec: 5, nsec: 0 })
  })

  it('are not those of a folder that was removed', () => {
    const times = new FolderTimes()
    const node = folder('d')
    times.changed(node, 1_500)
    node.isUnlinked = true
    times.left(node)
    const again = folder('d')
    times.recall(again)
    expect(again.times.mtime).toBeUndefined()
  })
})
