// Which version each document shows, and who shows one from elsewhere: also after a transaction that fails.

import { afterEach, beforeEach, expect, it } from 'vitest'
import type { RemoteFile } from '../../../src/api/types.ts'
import { fingerprintOf } from '../../../src/content/fingerprint.ts'
import { Journal } from '../../../src/content/spool/journal.ts'
import { AttributeStore } from '../../../src/fs/tree/attribute-store.ts'
import { Node } from '../../../src/fs/tree/node.ts'
import { Versions } from '../../../src/fs/tree/versions.ts'
import { realWorld } from '../../../src/world/world.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../../support/temporary-folder.ts'

let temporary: TemporaryFolder
let journal: Journal
let versions: Versions
let node: Node
let other: Node

const root = new Node(1, 'folder', undefined, '')

beforeEach(async () => {
  temporary = await makeTemporaryFolder()
  journal = new Journal(temporary.path, realWorld())
  // Somebody set the time of one version.
  journal.attributes.save({
    path: '/a.txt',
    fingerprint: fingerprintOf(second),
    mode: 0o600,
    atime: undefined,
    mtime: undefined,
  })
  const attributes = new AttributeStore(journal)
  versions = new Versions((each) => attributes.applyAttributes(each))
  node = new Node(2, 'file', root, 'a.txt')
  other = new Node(3, 'file', root, 'b.txt')
})

afterEach(async () => {
  journal.close()
  await temporary.remove()
})

const record = { kind: 'file', name: 'a.txt', size: 3, mimetype: undefined, url: undefined } as const
const first: RemoteFile = { ...record, modifiedAt: '2026-01-01T00:00:00Z' }
const second: RemoteFile = { ...record, modifiedAt: '2026-01-02T00:00:00Z' }

function known(): unknown {
  return {
    shows: [node, other].map(({ stored }) => [
      stored.record,
      stored.elsewhere,
      stored.askedAt,
      stored.lookedUpAt,
    ]),
    mayReplace: [node, other].map(({ unsent }) => unsent.base),
    mode: node.times.mode,
    elsewhere: ['/a.txt', '/b.txt', '/old.txt', '/older.txt'].map((path) =>
      versions
        .shownElsewhere(path)
        .map(({ name }) => name)
        .sort(),
    ),
  }
}

/** The change, after it was undone by a transaction that failed. */
function changed(change: () => unknown): void {
  const before = known()
  expect(() =>
    journal.transaction(() => {
      change()
      expect(known()).not.toEqual(before)
      throw new Error('the disk is full')
    }),
  ).toThrow('the disk is full')
  expect(known()).toEqual(before)
  change()
}

it('what is listed is at home, may be replaced, and has what was set for it', () => {
  changed(() => versions.show(node, second, 5))
  expect([node.stored.record, node.stored.elsewhere, node.stored.askedAt]).toEqual([second, undefined, 5])
  expect([node.unsent.base, node.times.mode]).toEqual([fingerprintOf(second), 0o600])
})

it('what was set for another version is not shown', () => {
  node.times.made(0o640, { sec: 1, nsec: 0 })
  versions.show(node, first, 5)
  expect(node.times.mode).toBeUndefined()
})

it('what was stored keeps its times, and may be replaced', () => {
  node.times.made(0o640, { sec: 1, nsec: 0 })
  changed(() => versions.store(node, second, 5))
  expect([node.unsent.base, node.times.mode, node.stored.askedAt]).toEqual([fingerprintOf(second), 0o640, 5])
})

it('what is shown from elsewhere is found there, and may replace nothing by that', () => {
  changed(() => versions.showAt(node, '/old.txt', first, 5))
  expect(node.version).toEqual({ path: '/old.txt', fingerprint: fingerprintOf(first), size: 3 })
  expect([versions.shownElsewhere('/old.txt'), node.unsent.base]).toEqual([[node], undefined])
})

it('a version at the node’s own path is nowhere else', () => {
  changed(() => versions.showAt(node, '/a.txt', first, 5))
  expect([node.stored.elsewhere, versions.shownElsewhere('/a.txt')]).toEqual([undefined, []])
})

it('several may show one from elsewhere; each that leaves is gone from there', () => {
  versions.showAt(node, '/old.txt', first, 5)
  versions.showAt(other, '/old.txt', first, 5)
  expect(versions.shownElsewhere('/old.txt')).toEqual([node, other])
  changed(() => versions.store(node, second, 6))
  expect(versions.shownElsewhere('/old.txt')).toEqual([other])
})

it('what moves on in the service is found at its newer place only', () => {
  versions.showAt(node, '/older.txt', first, 5)
  changed(() => versions.refer(node, '/old.txt'))
  expect([node.storedPath, node.stored.record]).toEqual(['/old.txt', first])
  expect([versions.shownElsewhere('/older.txt'), versions.shownElsewhere('/old.txt')]).toEqual([[], [node]])
})

it('who shows no version refers to none', () => {
  versions.refer(node, '/old.txt')
  expect([node.stored.elsewhere, versions.shownElsewhere('/old.txt')]).toEqual([undefined, []])
})

it('what has arrived at home is nowhere else; what may be replaced there is not said by that', () => {
  versions.showAt(node, '/old.txt', first, 5)
  node.unsent.mayReplace('of theirs')
  changed(() => versions.atOwnPath(node))
  expect([node.storedPath, node.unsent.base]).toEqual(['/a.txt', 'of theirs'])
  expect(versions.shownElsewhere('/old.txt')).toEqual([])
})

it('what is back where the service has it may be replaced there', () => {
  versions.showAt(node, '/old.txt', first, 5)
  changed(() => versions.backAtOwnPath(node))
  expect([node.storedPath, node.unsent.base]).toEqual(['/a.txt', fingerprintOf(first)])
})

it('what is no longer in the service is nowhere', () => {
  versions.showAt(node, '/old.txt', first, 5)
  changed(() => versions.forget(node))
  expect([node.remote, node.version, versions.shownElsewhere('/old.txt')]).toEqual([undefined, undefined, []])
})

it('what another client took away still shows, and nobody brings it here for that', () => {
  versions.showAt(node, '/old.txt', first, 5)
  changed(() => versions.vanished(node))
  expect([node.storedPath, versions.shownElsewhere('/old.txt')]).toEqual(['/old.txt', []])
  versions.store(other, first, 5)
  versions.vanished(other)
  expect([other.storedPath, versions.shownElsewhere('/b.txt')]).toEqual(['/b.txt', []])
})

it('who was dropped is found nowhere', () => {
  versions.showAt(node, '/old.txt', first, 5)
  changed(() => versions.dropped(node))
  expect(versions.shownElsewhere('/old.txt')).toEqual([])
})

it('a node that was moved to where the service has its version is not elsewhere', () => {
  versions.showAt(node, '/old.txt', first, 5)
  node.moveTo(root, 'new.txt')
  expect(versions.shownElsewhere('/old.txt')).toEqual([node])
  node.stored.moveTo('/new.txt')
  expect(versions.shownElsewhere('/old.txt')).toEqual([])
})

it('the document itself tells more of the same version', () => {
  const sparse: RemoteFile = { ...first, url: undefined }
  const whole: RemoteFile = { ...first, url: 'https://example.org/' }
  versions.show(node, sparse, 5)
  let isAnother: boolean | undefined
  changed(() => {
    versions.refer(node, '/old.txt')
    isAnother = versions.complete(node, whole, 7)
  })
  expect(isAnother).toBe(false)
  expect([node.stored.record, node.stored.askedAt, node.stored.lookedUpAt]).toEqual([whole, 7, 7])
  expect(versions.shownElsewhere('/old.txt')).toEqual([node])
})

it('the document itself is another version: it is shown, may be replaced, and has nothing of what was set before', () => {
  versions.show(node, first, 5)
  node.times.made(0o640, { sec: 1, nsec: 0 })
  expect(versions.complete(node, second, 7)).toBe(true)
  expect([node.unsent.base, node.times.mode]).toEqual([fingerprintOf(second), undefined])
  expect(node.stored.lookedUpAt).toBe(7)
})

it('another version elsewhere says nothing of what may be replaced at home', () => {
  versions.showAt(node, '/old.txt', first, 5)
  node.unsent.mayReplace('at home')
  expect(versions.complete(node, second, 7)).toBe(true)
  expect([node.storedPath, node.unsent.base]).toEqual(['/old.txt', 'at home'])
})

it('who shows nothing is completed by nothing', () => {
  expect(versions.complete(node, second, 7)).toBe(false)
  expect([node.remote, node.stored.lookedUpAt]).toEqual([undefined, undefined])
})
