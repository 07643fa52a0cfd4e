// Rows that an earlier run left in the journal, one by one, and how the tree shows them before the service has heard of anything.

import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createClient, type Client } from '../../../src/api/client.ts'
import { digestOfBytes } from '../../../src/content/digest.ts'
import { intend, type Intention, type IntentionDraft } from '../../../src/content/intention.ts'
import { Journal } from '../../../src/content/spool/journal.ts'
import { assemble } from '../../../src/fs/assemble.ts'
import { stop } from '../../../src/fs/start.ts'
import type { Superblock } from '../../../src/fs/superblock.ts'
import type { Node } from '../../../src/fs/tree/node.ts'
import { contradictions, stateOf } from '../../../src/fs/tree/states.ts'
import { recover } from '../../../src/fs/unsent/recovery.ts'
import type { Log } from '../../../src/log.ts'
import { realWorld } from '../../../src/world/world.ts'
import { project, startTestService, type TestService } from '../../support/service.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../../support/temporary-folder.ts'
import { waitUntil } from '../../support/wait-until.ts'

let temporary: TemporaryFolder
let service: TestService
let client: Client
let sb: Superblock | undefined
let told: string[]
let id: number

beforeEach(async () => {
  temporary = await makeTemporaryFolder()
  service = await startTestService()
  client = createClient({ baseUrl: service.baseUrl, apiKey: service.apiKey })
  sb = undefined
  told = []
  id = 0
})

afterEach(async () => {
  if (sb !== undefined) await stop(sb)
  await client.close()
  await service.close()
  await temporary.remove()
})

const bytes = Buffer.from('ours')
const digest = digestOfBytes(bytes)
const version = '7@2026-01-01T00:00:00.000Z'

/** An intention as it was journaled. */
const intended = (draft: Partial<IntentionDraft>, change: Partial<Intention> = {}): Intention =>
  Object.assign(intend(++id, { kind: 'put', path: '/a.txt', ...draft }, 0), change)

interface Left {
  readonly intentions?: readonly Intention[]
  /** Files of the spool. */
  readonly spool?: readonly string[]
  /** Content in the journal. */
  readonly contents?: Readonly<Record<string, Buffer>>
  readonly rows?: (journal: Journal) => void
}

/** Recovered of what the earlier run left; nothing is sent. */
async function recovered({ intentions = [], spool = [], contents = {}, rows }: Left): Promise<Superblock> {
  const stateDir = join(temporary.path, 'state')
  const cacheDir = join(temporary.path, 'cache')
  const log: Log = {
    debug: () => {},
    info: () => {},
    warn: (_fields, message) => void told.push(message),
    error: (_fields, message) => void told.push(message),
  }
  const earlier = new Journal(stateDir, realWorld())
  for (const intention of intentions) earlier.intentions.save(intention)
  for (const [name, content] of Object.entries(contents)) earlier.contents.save(name, content)
  rows?.(earlier)
  earlier.close()
  const parts = assemble({ files: client.files(project), stateDir, cacheDir, log })
  sb = parts
  for (const name of spool) writeFileSync(join(stateDir, 'spool', name), bytes)
  parts.queue.pause()
  await recover(parts)
  for (const node of parts.tree.nodes.all()) expect(contradictions(node), node.path).toEqual([])
  return parts
}

function at({ tree }: Superblock, path: string): Node {
  const node = tree.find(path)
  if (node === undefined) throw new Error(`no ${path}`)
  return node
}

const isKept = ({ tree }: Superblock, name: string): boolean | undefined =>
  tree.nodes.root.folder?.kept.has(name)
const hidden = ({ tree }: Superblock): string[] =>
  [...tree.synced.in(tree.nodes.root).keys()].filter(
    (name) => tree.keptChild(tree.nodes.root, name) === undefined,
  )

describe('a save', () => {
  it('is shown, may replace what it might, and waits for its job', async () => {
    const parts = await recovered({
      intentions: [intended({ path: '/d/a.txt', spool: 'a', size: 4, digest, base: version })],
      spool: ['a'],
    })
    const node = at(parts, '/d/a.txt')
    expect([stateOf(node)?.name, node.content?.id, node.size]).toEqual(['saved', 'a', 4])
    expect([node.unsent.base, node.content?.digest]).toEqual([version, digest])
    expect([node.job, parts.owners.of({ id: 1 } as Intention)]).toEqual([parts.queue.find('/d/a.txt'), node])
    expect(isKept(parts, 'd')).toBe(true)
    // The content was not written since: a close sends nothing.
    expect([node.content !== undefined && node.unsent.isOf(node.content), node.local.isWritten]).toEqual([
      true,
      false,
    ])
    expect(node.content?.isHeld).toBe(false)
  })

  it('has its content from the journal, where the disk lost the file', async () => {
    const parts = await recovered({
      intentions: [intended({ spool: 'a', size: 4, digest })],
      contents: { a: bytes },
    })
    expect(Buffer.from(at(parts, '/a.txt').content?.readAll() ?? []).toString()).toBe('ours')
  })

  it('has no content from the journal that is not what was saved, and none is kept that no row names', async () => {
    const parts = await recovered({
      intentions: [intended({ spool: 'a', size: 4, digest })],
      contents: { a: Buffer.from('torn'), b: bytes },
      spool: ['a'],
    })
    expect(Buffer.from(at(parts, '/a.txt').content?.readAll() ?? []).toString()).toBe('ours')
    expect(parts.journal.contents.get('b')).toBeUndefined()
  })

  it('whose content is gone is a document that cannot be read, of the size it had', async () => {
    const parts = await recovered({ intentions: [intended({ spool: 'a', size: 4, digest })] })
    const node = at(parts, '/a.txt')
    expect([node.content, node.size, node.job?.intention.spool]).toEqual([undefined, 4, 'a'])
  })

  it('whose content is gone, over another version: that is what shows', async () => {
    const parts = await recovered({ intentions: [intended({ spool: 'a', size: 4, digest, base: version })] })
    expect([parts.tree.find('/a.txt'), isKept(parts, 'a.txt')]).toEqual([undefined, false])
    expect(parts.queue.find('/a.txt')).toBeDefined()
  })

  it('may have arrived: its digest tells it from another client’s, also where none was journaled', async () => {
    const parts = await recovered({
      intentions: [
        intended({ spool: 'a', size: 4, digest }),
        intended({ path: '/b.txt', spool: 'b', size: 4 }),
      ],
      spool: ['a', 'b'],
    })
    const doubts = ['/a.txt', '/b.txt'].map((path) => parts.queue.find(path)?.intention.sentDigests)
    expect(doubts).toEqual([[digest], [digest]])
    expect(at(parts, '/b.txt').content?.isHeld).toBe(false)
  })

  it('that was saved again while it was sent, and did not arrive: no content is kept once the newer one is sent', async () => {
    const parts = await recovered({
      intentions: ['a', 'b'].map((spool) => intended({ spool, size: 4, digest })),
      spool: ['a', 'b'],
    })
    expect(at(parts, '/a.txt').content?.id).toBe('b')
    const { faults } = service.service
    faults.inject({ kind: 'status', status: 500 }, { method: 'PUT' })
    parts.queue.goOn()
    const unsent = (): number => [...parts.queue.jobs()].length
    await waitUntil('the newer one to take the place of the older', () => unsent() === 1)
    faults.clear()
    parts.queue.runNow(() => true)
    await waitUntil('it to be sent', () => unsent() === 0)
    const kept = (): string[] => readdirSync(parts.spool.dir).filter((name) => !name.endsWith('.json'))
    await waitUntil('the spool to be empty', () => kept().length === 0, 10_000).catch(() =>
      expect(kept()).toEqual([]),
    )
  })

  it('whose content is gone, without a digest, is named, and holds nothing up', async () => {
    const parts = await recovered({
      intentions: [intended({ spool: 'a', size: 4 }), intended({ path: '/b.txt', spool: 'b', digest })],
      spool: ['b'],
    })
    expect(told).toEqual(['the spooled content of this document cannot be read'])
    expect(stateOf(at(parts, '/b.txt'))?.name).toBe('saved')
  })

  it('has the mode that was set for it, also by an earlier docmount, and not for the version it replaces', async () => {
    const paths = ['/a.txt', '/b.txt', '/c.txt']
    const parts = await recovered({
      intentions: paths.map((path) => intended({ path, spool: path.slice(1), digest, base: version })),
      spool: paths.map((path) => path.slice(1)),
      rows(journal) {
        const times = { mode: 0o600, atime: undefined, mtime: undefined }
        journal.attributes.save({ path: '/a.txt', fingerprint: 'unsent', ...times })
        journal.attributes.save({ path: '/b.txt', fingerprint: 'unsent b.txt', ...times })
        journal.attributes.save({ path: '/c.txt', fingerprint: version, ...times })
      },
    })
    expect(paths.map((path) => at(parts, path).times.mode)).toEqual([0o600, 0o600, undefined])
  })
})

describe('a delete', () => {
  it('hides the name', async () => {
    const parts = await recovered({ intentions: [intended({ kind: 'delete', base: version })] })
    expect(parts.tree.synced.at('/a.txt')).toEqual({ agreedAt: undefined, until: Infinity, highest: version })
  })

  it('that was refused hides nothing', async () => {
    const parts = await recovered({
      intentions: [intended({ kind: 'delete', base: version }, { isRefused: true })],
    })
    expect(hidden(parts)).toEqual([])
  })

  it('of a document that is on its way: neither shows', async () => {
    const parts = await recovered({
      intentions: [
        intended({ path: '/d/a.txt', spool: 'a', digest }),
        intended({ kind: 'delete', path: '/d/a.txt' }),
      ],
      spool: ['a'],
    })
    expect(parts.tree.find('/d/a.txt')).toBeUndefined()
    // The folder was there for that alone.
    expect(isKept(parts, 'd')).toBe(false)
    expect(parts.claims.has('a')).toBe(true)
  })

  it('of a folder hides it', async () => {
    const parts = await recovered({ intentions: [intended({ kind: 'prune', path: '/d' })] })
    expect(hidden(parts)).toEqual(['d'])
  })
})

describe('a move', () => {
  const move = { path: '/b.txt', source: '/a.txt', sourceFingerprint: version, size: 7 }

  it('shows the version from where it is, and nothing there', async () => {
    const parts = await recovered({ intentions: [intended(move)] })
    const node = at(parts, '/b.txt')
    expect([stateOf(node)?.name, node.version]).toEqual([
      'being moved',
      { path: '/a.txt', fingerprint: version, size: 7 },
    ])
    expect([hidden(parts), parts.tree.versions.shownElsewhere('/a.txt')]).toEqual([['a.txt'], [node]])
  })

  it('whose bytes have arrived shows them from there', async () => {
    const parts = await recovered({ intentions: [intended({ ...move, base: version }, { isCopied: true })] })
    const node = at(parts, '/b.txt')
    expect([node.storedPath, node.stored.fingerprint, hidden(parts)]).toEqual(['/b.txt', version, ['a.txt']])
  })

  it.each<[string, Partial<IntentionDraft>, Partial<Intention>]>([
    ['has arrived', { base: '9@2026-01-02T00:00:00.000Z' }, { isCopied: true }],
    ['came to its source', { sourceFingerprint: '9@2026-01-02T00:00:00.000Z' }, {}],
  ])('shows what %s in the length of that, which may be another client’s', async (_what, draft, change) => {
    const parts = await recovered({ intentions: [intended({ ...move, ...draft }, change)] })
    expect(at(parts, '/b.txt').size).toBe(9)
  })

  it('of a version whose size is not told has the size that was known', async () => {
    const untold = '?@2026-01-01T00:00:00.000Z'
    const parts = await recovered({ intentions: [intended({ ...move, sourceFingerprint: untold })] })
    expect(at(parts, '/b.txt').size).toBe(7)
  })

  it('with content of its own shows that', async () => {
    const parts = await recovered({ intentions: [intended({ ...move, spool: 'a', digest })], spool: ['a'] })
    const node = at(parts, '/b.txt')
    expect([stateOf(node)?.name, node.remote, hidden(parts)]).toEqual(['saved', undefined, ['a.txt']])
  })

  it('of what is on its way itself: one document owns both, and is read from where it arrives first', async () => {
    const parts = await recovered({
      intentions: [
        intended({ path: '/d/a.txt', source: '/old.txt', sourceFingerprint: version, size: 7 }),
        intended({ ...move, source: '/d/a.txt', sourceFingerprint: undefined }),
      ],
    })
    const node = at(parts, '/b.txt')
    expect([1, 2].map((of) => parts.owners.of({ id: of } as Intention))).toEqual([node, node])
    expect([node.job?.intention.id, node.storedPath]).toEqual([2, '/old.txt'])
    expect([parts.tree.find('/d/a.txt'), isKept(parts, 'd'), hidden(parts)]).toEqual([
      undefined,
      false,
      ['old.txt'],
    ])
  })

  it('that is a copy leaves its source alone', async () => {
    const parts = await recovered({ intentions: [intended({ ...move, keepSource: true })] })
    const node = at(parts, '/b.txt')
    expect([node.unsent.isCopy, node.storedPath, hidden(parts)]).toEqual([true, '/a.txt', []])
  })

  it('whose old name is taken anew: both show', async () => {
    const parts = await recovered({
      intentions: [intended(move), intended({ spool: 'a', digest })],
      spool: ['a'],
    })
    expect([at(parts, '/a.txt').content?.id, at(parts, '/b.txt').storedPath, hidden(parts)]).toEqual([
      'a',
      '/a.txt',
      [],
    ])
  })
})

describe('a folder made here', () => {
  it('is there, with those above it, and what is in it', async () => {
    const parts = await recovered({
      intentions: [intended({ path: '/made/here/a.txt', spool: 'a', digest })],
      spool: ['a'],
      rows(journal) {
        journal.folders.save('/made/here')
        journal.folders.save('/empty')
      },
    })
    const made = ['/made', '/made/here', '/empty'].map((path) => at(parts, path).folder?.isMadeHere)
    expect([made, isKept(parts, 'made'), isKept(parts, 'empty')]).toEqual([[false, true, true], true, true])
    expect(at(parts, '/made/here/a.txt').content?.id).toBe('a')
  })

  it('where something was deleted in the service is shown', async () => {
    const parts = await recovered({
      intentions: [intended({ kind: 'prune', path: '/made' })],
      rows: (journal) => journal.folders.save('/made'),
    })
    expect([isKept(parts, 'made'), at(parts, '/made').folder?.isMadeHere]).toEqual([true, true])
  })
})

describe('a file of this machine only', () => {
  it('is there with its content, as the journal says it', async () => {
    const parts = await recovered({
      spool: ['swap'],
      rows: (journal) =>
        journal.localFiles.save({ path: '/.a.txt.swp', spool: 'swap', reference: undefined }),
    })
    const node = at(parts, '/.a.txt.swp')
    expect([stateOf(node)?.name, node.content?.id, node.isDirty, node.job]).toEqual([
      'only here',
      'swap',
      false,
      undefined,
    ])
    expect(isKept(parts, '.a.txt.swp')).toBe(true)
  })

  it('that is a backup is read from where the service has it, and watched', async () => {
    const reference = { path: '/a.txt', fingerprint: version, size: 7 }
    const parts = await recovered({
      rows: (journal) => journal.localFiles.save({ path: '/a.txt~', spool: undefined, reference }),
    })
    const node = at(parts, '/a.txt~')
    expect([stateOf(node)?.name, node.version]).toEqual(['kept backup', reference])
    expect([...parts.localOnly.lasting()].map(([each]) => each)).toEqual([node])
  })

  it('may share its content with what is on its way, and keeps it when that is gone', async () => {
    const parts = await recovered({
      intentions: [intended({ spool: 'a', digest })],
      spool: ['a'],
      rows: (journal) => journal.localFiles.save({ path: '/a.txt~', spool: 'a', reference: undefined }),
    })
    expect(at(parts, '/a.txt~').content).toBe(at(parts, '/a.txt').content)
    expect(parts.claims.isOnlyOf(at(parts, '/a.txt~'))).toBe(false)
    parts.claims.show(at(parts, '/a.txt'), undefined)
    parts.journal.intentions.remove(1)
    expect(parts.claims.isOnlyOf(at(parts, '/a.txt~'))).toBe(true)
  })

  it('whose content is missing is named, and shown without it', async () => {
    const parts = await recovered({
      rows: (journal) => journal.localFiles.save({ path: '/a.txt~', spool: 'gone', reference: undefined }),
    })
    expect(told).toEqual(['the spooled content of this document is missing'])
    expect(at(parts, '/a.txt~').content).toBeUndefined()
  })

  it('that was deleted while open does not come back', async () => {
    const path = '/.fuse_hidden0000000100000001'
    const parts = await recovered({
      spool: ['a'],
      rows: (journal) => journal.localFiles.save({ path, spool: 'a', reference: undefined }),
    })
    expect([parts.tree.find(path), parts.journal.localFiles.all(), parts.claims.has('a')]).toEqual([
      undefined,
      [],
      false,
    ])
  })
})

it('of nothing nothing is shown', async () => {
  const parts = await recovered({})
  expect([...parts.tree.nodes.all()].map(({ path }) => path)).toEqual(['/'])
  expect([[...parts.queue.jobs()], hidden(parts)]).toEqual([[], []])
})
