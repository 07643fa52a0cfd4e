// Events of the queue about an intention, and what the tree makes of each: while its document is there, nobody's,
// renamed meanwhile, only on this machine, or without a name.

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { RemoteFile } from '../../../src/api/types.ts'
import { Job } from '../../../src/content/commit/job.ts'
import type { QueueEvent } from '../../../src/content/commit/queue-event.ts'
import { fingerprintOf } from '../../../src/content/fingerprint.ts'
import { intend, type Intention } from '../../../src/content/intention.ts'
import type { SyncedPath } from '../../../src/ledger/view.ts'
import type { Superblock } from '../../../src/fs/superblock.ts'
import type { Node } from '../../../src/fs/tree/node.ts'
import { contradictions, stateOf } from '../../../src/fs/tree/states.ts'
import { agreed } from '../../../src/fs/unsent/agreed.ts'
import type { Calls } from '../../support/door.ts'
import { openParts, type OpenParts } from '../../support/open-parts.ts'
import type { TestService } from '../../support/service.ts'
import { waitUntil } from '../../support/wait-until.ts'

let parts: OpenParts
let service: TestService
let sb: Superblock
let calls: Calls

beforeEach(async () => {
  // The queue sends nothing: the test says its events.
  parts = await openParts({ '/given.txt': 'given /given.txt', '/moving.txt': 'given /moving.txt' })
  ;({ service, sb, calls } = parts)
})

afterEach(async () => {
  await parts[Symbol.asyncDispose]()
})

function at(path: string): Node {
  const node = sb.tree.find(path)
  if (node === undefined) throw new Error(`no ${path}`)
  return node
}

function jobAt(path: string): Job {
  const job = sb.queue.find(path)
  if (job === undefined) throw new Error(`nothing is on its way to ${path}`)
  return job
}

/** It is being sent: nobody takes it back. */
function underWay(path: string): Job {
  const job = jobAt(path)
  job.controller = new AbortController()
  return job
}

/** The service's record of a document that another client stores there. */
async function stored(path: string, content = `stored ${path}`): Promise<RemoteFile> {
  await service.other.put(path, content)
  const record = await sb.files.get(path)
  if (record.kind !== 'file') throw new Error(`${path} is no document`)
  return record
}

/** The queue says it, in the transaction in which the row goes. */
function say(event: QueueEvent): void {
  sb.journal.transaction(() => {
    if (event.kind === 'done') sb.journal.intentions.remove(event.intention.id)
    agreed(sb, event)
  })
}

const done = (intention: Intention, record?: RemoteFile): void => say({ kind: 'done', intention, record })
const contentSuperseded = (intention: Intention, record?: RemoteFile): void =>
  say({ kind: 'contentSuperseded', intention, record })

/** An intention of which no node knows. */
const nobodys = (draft: Partial<Intention>): Intention =>
  Object.assign(intend(9_999, { kind: 'put', path: '/nobody.txt' }, 0), draft)

const settled = (node: Node): SyncedPath | undefined => sb.tree.places.agreed(node)

function synced(path: string): { highest: string | undefined; isAgreed: boolean } | undefined {
  const row = sb.tree.synced.at(path)
  return row && { highest: row.highest, isAgreed: row.agreedAt !== undefined }
}

function expectState(node: Node, state: string): void {
  expect(stateOf(node)?.name).toBe(state)
  expect(contradictions(node)).toEqual([])
}

const caller = { uid: 0, gid: 0, pid: process.pid, signal: new AbortController().signal }

/** Open without a close to come. */
async function opened(path: string): Promise<number> {
  const operations = parts.operations
  const { fh } = await operations.open(at(path).ino, { read: true, write: false, truncate: false }, caller)
  return fh
}

/** A move of what is in the service, under way: its bytes are not here. */
async function moving(): Promise<{ node: Node; job: Job }> {
  await calls.rename('/moving.txt', '/moved.txt')
  return { node: at('/moved.txt'), job: underWay('/moved.txt') }
}

describe('done', () => {
  it('a save is as listed: its version may be replaced, its content is the cache’s, its time is when it was written', async () => {
    await calls.writeFile('/a.txt', 'ours')
    const { intention } = jobAt('/a.txt')
    const node = at('/a.txt')
    const { mtime } = node.times
    const record = await stored('/a.txt')
    done(intention, record)
    expectState(node, 'as listed')
    expect(node.remote).toEqual(record)
    expect([node.content, node.job, sb.owners.of(intention)]).toEqual([undefined, undefined, undefined])
    expect([settled(node)?.agreedAt === undefined, node.times.mtime]).toEqual([false, mtime])
    // No listing tells of it yet, and nothing of ours is written into one.
    expect(sb.tree.listings.known(sb.tree.nodes.root)?.names.get('a.txt')).toBeUndefined()
    expect(sb.tree.keptChild(sb.tree.nodes.root, 'a.txt')).toBe(node)
  })

  it('nothing of it counts where the transaction fails', async () => {
    await calls.writeFile('/a.txt', 'ours')
    const { intention } = jobAt('/a.txt')
    const node = at('/a.txt')
    const record = await stored('/a.txt')
    expect(() =>
      sb.journal.transaction(() => {
        agreed(sb, { kind: 'done', intention, record })
        throw new Error('the disk is full')
      }),
    ).toThrow('the disk is full')
    expectState(node, 'saved')
    expect([sb.owners.of(intention), node.job?.intention, settled(node)?.agreedAt]).toEqual([
      node,
      intention,
      undefined,
    ])
    expect([node.remote, node.unsent.base, node.isDirty]).toEqual([undefined, undefined, true])
  })

  it('a save that is being written again is not settled: what is written replaces what was stored', async () => {
    const file = await calls.open('/a.txt', 'w+')
    await file.write('first', 0)
    await file.sync()
    const { intention } = jobAt('/a.txt')
    await file.write('second', 0)
    const node = at('/a.txt')
    const record = await stored('/a.txt')
    done(intention, record)
    expectState(node, 'being written')
    expect([node.unsent.base, settled(node)?.agreedAt]).toEqual([fingerprintOf(record), undefined])
    await file.close()
    expect(jobAt('/a.txt').intention.base).toBe(fingerprintOf(record))
  })

  it('a save with a newer one behind it is not settled: the newer one replaces it', async () => {
    await calls.writeFile('/a.txt', 'first')
    const { intention } = underWay('/a.txt')
    await calls.writeFile('/a.txt', 'second')
    const node = at('/a.txt')
    const newer = jobAt('/a.txt')
    expect(newer.intention).not.toBe(intention)
    const record = await stored('/a.txt')
    done(intention, record)
    expectState(node, 'saved')
    expect([node.job, settled(node)?.agreedAt, node.unsent.base]).toEqual([
      newer,
      undefined,
      fingerprintOf(record),
    ])
    expect(node.content?.id).toBe(newer.intention.spool)
  })

  it('once the newest has arrived, what becomes of an older one tells nothing of the document', async () => {
    await calls.writeFile('/a.txt', 'first')
    const older = underWay('/a.txt').intention
    await calls.writeFile('/a.txt', 'second')
    const record = await stored('/a.txt')
    done(jobAt('/a.txt').intention, record)
    contentSuperseded(older, await stored('/a.txt', 'another'))
    expect([at('/a.txt').remote, sb.owners.of(older)]).toEqual([record, undefined])
    expectState(at('/a.txt'), 'as listed')
  })

  it('a save that was renamed meanwhile shows from where it arrived, and still has to be moved', async () => {
    await calls.writeFile('/a.txt', 'ours')
    const { intention } = underWay('/a.txt')
    await calls.rename('/a.txt', '/b.txt')
    const node = at('/b.txt')
    const move = jobAt('/b.txt')
    const record = await stored('/a.txt')
    done(intention, record)
    expect([node.stored.elsewhere, node.job, settled(node)?.agreedAt]).toEqual(['/a.txt', move, undefined])
    expect(sb.tree.versions.shownElsewhere('/a.txt')).toEqual([node])
    // The version that has arrived is the one that is to go from there.
    expect(synced('/a.txt')).toEqual({ highest: fingerprintOf(record), isAgreed: false })
    expectState(node, 'saved')
  })

  it('a move that was renamed meanwhile is read from where it arrived', async () => {
    const { node, job } = await moving()
    await calls.rename('/moved.txt', '/again.txt')
    const record = await stored('/moved.txt')
    done(job.intention, record)
    expectState(node, 'being moved')
    expect(node.version).toEqual({
      path: '/moved.txt',
      fingerprint: fingerprintOf(record),
      size: record.size,
    })
  })

  it('what came to be only here, without its bytes, names where they are now, also after a restart', async () => {
    const { node, job } = await moving()
    node.local.markLocalOnly()
    const record = await stored('/moved.txt')
    sb.tree.places.detach(node)
    sb.tree.places.attach(node, sb.tree.nodes.root, 'kept.txt~')
    node.unsent.goesOnAs(undefined)
    done(job.intention, record)
    expectState(node, 'kept backup')
    expect(sb.journal.localFiles.all()).toMatchObject([
      {
        path: '/kept.txt~',
        spool: undefined,
        reference: { path: '/moved.txt', fingerprint: fingerprintOf(record), size: record.size },
      },
    ])
  })

  it('what came to be only here, with its bytes, hears nothing of where the service has it', async () => {
    await calls.writeFile('/a.txt', 'ours')
    const { intention } = jobAt('/a.txt')
    const node = at('/a.txt')
    node.local.markLocalOnly()
    done(intention, await stored('/a.txt'))
    expectState(node, 'only here')
    expect([node.remote, node.content?.id]).toEqual([undefined, intention.spool])
  })

  it('a document without a name keeps its content for who has it open, and for nobody else', async () => {
    await calls.writeFile('/a.txt', 'ours')
    const { intention } = underWay('/a.txt')
    const fh = await opened('/a.txt')
    const node = at('/a.txt')
    await calls.unlink('/a.txt')
    const record = await stored('/a.txt')
    done(intention, record)
    expect([node.isUnlinked, settled(node)?.agreedAt, node.content?.id]).toEqual([
      true,
      undefined,
      intention.spool,
    ])
    expect(sb.journal.dropped.all().has(intention.spool ?? '')).toBe(true)
    expect(sb.journal.attributes.all()).toEqual([])
    // The delete that is behind it takes this very version.
    expect(synced('/a.txt')).toEqual({ highest: fingerprintOf(record), isAgreed: false })
    await parts.operations.release(fh)
    expect(node.content).toBeUndefined()
  })

  it('a document without a name that nobody has open is gone', async () => {
    await calls.writeFile('/a.txt', 'ours')
    const { intention } = underWay('/a.txt')
    const node = at('/a.txt')
    await calls.unlink('/a.txt')
    done(intention, await stored('/a.txt'))
    expect([node.content, sb.tree.nodes.find(node.ino)]).toEqual([undefined, undefined])
  })

  it('what nobody shows changes nothing but the name it was hidden at', async () => {
    const record = await stored('/nobody.txt')
    done(nobodys({}), record)
    expect([sb.tree.find('/nobody.txt'), synced('/nobody.txt')]).toEqual([undefined, undefined])
    sb.tree.synced.touch('/nobody.txt', undefined)
    done(nobodys({}), record)
    expect(synced('/nobody.txt')).toEqual({ highest: fingerprintOf(record), isAgreed: false })
  })

  it('what nobody shows, in a folder that is not known, changes nothing', async () => {
    const path = '/nowhere/nobody.txt'
    done(nobodys({ path }), await stored(path))
    done(nobodys({ kind: 'delete', path: '/elsewhere/nobody.txt' }))
    expect(sb.tree.find(path)).toBeUndefined()
  })

  it('a delete is settled, and what was set for the document is forgotten', async () => {
    await calls.chmod('/given.txt', 0o600)
    const fingerprint = at('/given.txt').stored.fingerprint
    await calls.unlink('/given.txt')
    const { intention } = jobAt('/given.txt')
    expect(synced('/given.txt')).toEqual({ highest: fingerprint, isAgreed: false })
    sb.queue.withdraw(jobAt('/given.txt'))
    done(intention)
    expect(synced('/given.txt')).toEqual({ highest: fingerprint, isAgreed: true })
    expect(sb.journal.attributes.all()).toEqual([])
  })

  it('a delete in a folder that is gone is settled when the service agrees, not when a folder is there again', async () => {
    await stored('/d/a.txt')
    await sb.tree.loadFresh(sb.tree.nodes.root)
    await calls.unlink('/d/a.txt')
    const { intention } = jobAt('/d/a.txt')
    sb.tree.places.displace(at('/d'))
    sb.queue.withdraw(jobAt('/d/a.txt'))
    done(intention)
    const agreedBy = sb.clock.steady()
    await waitUntil('the clock', () => sb.clock.steady() > agreedBy)
    await stored('/d/b.txt')
    expect(await calls.readdir('/d')).toEqual(['b.txt'])
    expect(sb.tree.synced.at('/d/a.txt')?.agreedAt).toBeLessThanOrEqual(agreedBy)
  })

  it('what is hidden below a renamed folder is settled when that is gone from the service', async () => {
    await stored('/d/sub/a.txt')
    await sb.tree.loadFresh(sb.tree.nodes.root)
    await calls.rename('/d', '/e')
    const prune = sb.queue.jobsUnder('/d').find(({ intention }) => intention.kind === 'prune')
    if (prune === undefined) throw new Error('no folder is to go')
    for (const { intention } of sb.queue.jobsUnder('/d').filter((job) => job !== prune)) {
      sb.queue.withdraw(jobAt(intention.path))
      done(intention, await stored(intention.path))
    }
    sb.queue.withdraw(prune)
    done(prune.intention)
    const agreedBy = sb.clock.steady()
    await waitUntil('the clock', () => sb.clock.steady() > agreedBy)
    await stored('/d/sub/b.txt')
    sb.tree.listings.forget(sb.tree.nodes.root)
    sb.tree.synced.drop('/d')
    sb.tree.listings.forget(sb.tree.nodes.root)
    await calls.readdir('/d')
    expect(sb.tree.synced.at('/d/sub')?.agreedAt).toBeLessThanOrEqual(agreedBy)
  })

  it('a delete that shows again after its refusal is hidden now', async () => {
    await sb.tree.loadFresh(sb.tree.nodes.root)
    await calls.stat('/given.txt')
    const { fingerprint } = at('/given.txt').stored
    sb.tree.places.displace(at('/given.txt'))
    done(nobodys({ kind: 'delete', path: '/given.txt', base: fingerprint }))
    expect(synced('/given.txt')).toEqual({ highest: fingerprint, isAgreed: true })
    expect(await calls.readdir('/')).not.toContain('given.txt')
  })

  it('a move is settled at both ends', async () => {
    const { node, job } = await moving()
    const { sourceFingerprint } = job.intention
    const record = await stored('/moved.txt')
    done(job.intention, record)
    expectState(node, 'as listed')
    expect(node.stored.elsewhere).toBeUndefined()
    expect(synced('/moving.txt')).toEqual({ highest: sourceFingerprint, isAgreed: true })
    expect(sb.tree.versions.shownElsewhere('/moving.txt')).toEqual([])
  })

  it('what a move leaves is not settled while something else is to go from there', async () => {
    const { job } = await moving()
    const other = sb.queue.submit({ kind: 'delete', path: '/moving.txt' })
    expect(other).toBeDefined()
    done(job.intention, await stored('/moved.txt'))
    expect(synced('/moving.txt')?.isAgreed).toBe(false)
  })

  it('a copy leaves its source alone, and is no copy any more', async () => {
    await calls.writeFile('/copy.txt', '')
    const node = at('/copy.txt')
    await calls.stat('/given.txt')
    const { record } = at('/given.txt').stored
    if (record === undefined) throw new Error('not listed')
    sb.claims.show(node, undefined)
    sb.tree.versions.showAt(node, '/given.txt', record, 0)
    node.unsent.copies()
    const intention = nobodys({ path: '/copy.txt', source: '/given.txt', keepSource: true })
    sb.owners.handIn(node, { intention } as Job, { content: undefined, epoch: undefined })
    done(intention, await stored('/copy.txt'))
    expectState(node, 'as listed')
    expect([node.unsent.isCopy, synced('/given.txt')]).toEqual([false, undefined])
  })

  it('folders made here are in the service with their first document', async () => {
    await calls.mkdir('/made')
    await calls.mkdir('/made/deeper')
    await calls.mkdir('/made/empty')
    await calls.writeFile('/made/deeper/a.txt', 'ours')
    const path = '/made/deeper/a.txt'
    done(jobAt(path).intention, await stored(path))
    const made = ['/made', '/made/deeper', '/made/empty'].map((folder) => at(folder).folder?.isMadeHere)
    expect(made).toEqual([false, false, true])
    expect(sb.journal.folders.all()).toEqual(['/made/empty'])
    expect(settled(at('/made'))).toBeDefined()
  })

  it('a move that took another client’s version is not what programs here know', async () => {
    const { node, job } = await moving()
    const { contentGeneration } = node.door
    job.intention.movedForeignVersion = true
    done(job.intention, await stored('/moved.txt', 'theirs'))
    expect(node.door.contentGeneration).toBe(contentGeneration + 1)
  })

  it('a move that took another client’s version while it is written: what is written keeps that beside it', async () => {
    const { node, job } = await moving()
    const { sourceFingerprint } = job.intention
    const file = await calls.open('/moved.txt', 'r+')
    await file.write('ours', 0)
    job.intention.movedForeignVersion = true
    const { contentGeneration } = node.door
    done(job.intention, await stored('/moved.txt', 'theirs'))
    expect([node.door.contentGeneration, node.unsent.base]).toEqual([contentGeneration, sourceFingerprint])
    await file.close()
  })
})

describe('contentSuperseded', () => {
  it('what is being written again stands on what was stored, and its change goes on', async () => {
    const file = await calls.open('/a.txt', 'w+')
    await file.write('first', 0)
    await file.sync()
    const job = jobAt('/a.txt')
    await file.write('second', 0)
    const node = at('/a.txt')
    const record = await stored('/a.txt')
    contentSuperseded(job.intention, record)
    expect([node.remote, node.unsent.base]).toEqual([record, fingerprintOf(record)])
    expect([node.job, sb.owners.of(job.intention), settled(node)?.agreedAt]).toEqual([job, node, undefined])
    expectState(node, 'saved')
    await file.close()
  })

  it('what was renamed meanwhile shows from where it was stored', async () => {
    await calls.writeFile('/a.txt', 'ours')
    const { intention } = underWay('/a.txt')
    await calls.rename('/a.txt', '/b.txt')
    const record = await stored('/a.txt')
    contentSuperseded(intention, record)
    const node = at('/b.txt')
    expect([node.stored.elsewhere, sb.owners.of(intention)]).toEqual(['/a.txt', node])
    expect(node.job?.intention.path).toBe('/b.txt')
  })

  it('what came to be only here hears nothing of it, unless its bytes are there', async () => {
    const { node, job } = await moving()
    node.local.markLocalOnly()
    const record = await stored('/moved.txt')
    contentSuperseded(job.intention, record)
    expect(sb.journal.localFiles.all().map(({ path, reference }) => [path, reference?.path])).toEqual([
      ['/moved.txt', '/moved.txt'],
    ])
    await calls.writeFile('/a.txt', 'ours')
    at('/a.txt').local.markLocalOnly()
    contentSuperseded(jobAt('/a.txt').intention, await stored('/a.txt'))
    expect(at('/a.txt').remote).toBeUndefined()
  })

  it('what has no name any more: its delete takes what was stored', async () => {
    await calls.writeFile('/a.txt', 'ours')
    const { intention } = underWay('/a.txt')
    await calls.unlink('/a.txt')
    const record = await stored('/a.txt')
    contentSuperseded(intention, record)
    expect(synced('/a.txt')).toEqual({ highest: fingerprintOf(record), isAgreed: false })
  })

  it('what nobody shows changes nothing, nor what has no record', async () => {
    contentSuperseded(nobodys({}), await stored('/nobody.txt'))
    expect(sb.tree.find('/nobody.txt')).toBeUndefined()
    await calls.writeFile('/a.txt', 'ours')
    contentSuperseded(jobAt('/a.txt').intention)
    expectState(at('/a.txt'), 'saved')
    expect(at('/a.txt').remote).toBeUndefined()
  })

  it('its folder is in the service', async () => {
    await calls.mkdir('/made')
    await calls.writeFile('/made/a.txt', 'ours')
    contentSuperseded(jobAt('/made/a.txt').intention, await stored('/made/a.txt'))
    expect([at('/made').folder?.isMadeHere, sb.journal.folders.all()]).toEqual([false, []])
  })
})

describe('superseded and replaced', () => {
  it('the document waits for nothing, or for what came in its place', async () => {
    await calls.writeFile('/a.txt', 'ours')
    const job = jobAt('/a.txt')
    const node = at('/a.txt')
    await calls.writeFile('/b.txt', 'another')
    const successor = jobAt('/b.txt')
    say({ kind: 'replaced', intention: job.intention, successor })
    expect([node.job, sb.owners.of(job.intention), sb.owners.of(successor.intention)]).toEqual([
      successor,
      undefined,
      node,
    ])
    say({ kind: 'superseded', intention: successor.intention })
    expect([node.job, sb.owners.of(successor.intention)]).toEqual([undefined, undefined])
  })

  /** Renamed away, and back over what was saved there meanwhile. */
  async function renamedBack(to: string, prepare?: (job: Job) => void): Promise<{ node: Node; job: Job }> {
    await calls.rename('/moving.txt', to)
    const job = jobAt(to)
    await calls.writeFile('/moving.txt', 'another')
    prepare?.(job)
    await calls.rename(to, '/moving.txt')
    return { node: at('/moving.txt'), job }
  }
  /** A refusal keeps the queue from ever doing it. */
  const refuse = ({ intention }: Job): void =>
    void Object.assign(intention, { isRefused: true, errorErrno: 'EINVAL' })

  it('replaced by nothing: what is back where the service has it is for listings to tell of', async () => {
    const { node } = await renamedBack('/moved.txt')
    const { intention } = node.job as Job
    expect(intention).toMatchObject({ path: '/moving.txt', source: '/moved.txt' })
    say({ kind: 'replaced', intention, successor: undefined })
    expectState(node, 'as listed')
    expect(settled(node)?.until).toBe(settled(node)?.agreedAt)
  })

  it.each([
    ['nothing', '/moved.txt', []],
    ['the delete of what it was renamed over', '/given.txt', ['delete /given.txt']],
  ])(
    'renamed back after the refusal, and nothing is left but %s: listings tell of it',
    async (_, to, left) => {
      const { node } = await renamedBack(to, refuse)
      const jobs = sb.queue.jobsUnder('/').map(({ intention: { kind, path } }) => `${kind} ${path}`)
      expect(jobs).toEqual(left)
      expectState(node, 'as listed')
      expect([node.job, settled(node)?.until]).toEqual([undefined, settled(node)?.agreedAt])
      await service.other.delete('/moving.txt')
      expect(await calls.readdir('/')).not.toContain('moving.txt')
    },
  )

  it.each(['superseded', 'replaced'] as const)(
    '%s by nothing, of an older change: the newest goes on',
    async (kind) => {
      await calls.writeFile('/a.txt', 'first')
      const { intention } = underWay('/a.txt')
      await calls.rename('/a.txt', '/b.txt')
      const node = at('/b.txt')
      const newest = jobAt('/b.txt')
      say(kind === 'replaced' ? { kind, intention, successor: undefined } : { kind, intention })
      expect([node.job, sb.owners.of(intention), sb.owners.of(newest.intention)]).toEqual([
        newest,
        undefined,
        node,
      ])
    },
  )

  it.each(['superseded', 'replaced'] as const)(
    '%s of what is only here, or has no name, is that too',
    async (kind) => {
      for (const path of ['/a.txt', '/b.txt']) await calls.writeFile(path, 'ours')
      const [here, nameless] = [at('/a.txt'), at('/b.txt')]
      const [first, second] = [underWay('/a.txt').intention, underWay('/b.txt').intention]
      here.local.markLocalOnly()
      await calls.unlink('/b.txt')
      for (const intention of [first, second, nobodys({})])
        say(kind === 'replaced' ? { kind, intention, successor: undefined } : { kind, intention })
      expect([here.job, nameless.job].map((job) => job?.intention)).toEqual([undefined, undefined])
      expect([first, second].map((intention) => sb.owners.of(intention))).toEqual([undefined, undefined])
      expect(stateOf(here)?.name).toBe('only here')
    },
  )
})

describe('refused', () => {
  const refused = (intention: Intention): void => say({ kind: 'refused', intention, error: new Error('no') })

  it('a save stays what it was, wherever its document went, and the person hears of it', async () => {
    await calls.writeFile('/a.txt', 'ours')
    const job = underWay('/a.txt')
    const node = at('/a.txt')
    const asItWas = node.job
    job.intention.lastError = 'too large'
    refused(job.intention)
    expect([node.job, sb.owners.of(job.intention)]).toEqual([asItWas, node])
    await calls.rename('/a.txt', '/b.txt')
    refused(job.intention)
    await calls.unlink('/b.txt')
    refused(job.intention)
    refused(nobodys({ lastError: 'no' }))
    const told = { kind: 'refused', path: '/a.txt', reason: 'too large', isKept: true }
    expect(parts.notices).toEqual([
      told,
      told,
      told,
      { ...told, path: '/nobody.txt', reason: 'no', isKept: false },
    ])
  })

  it('what is damaged here is told as that', async () => {
    await calls.writeFile('/a.txt', 'ours')
    Object.assign(jobAt('/a.txt').intention, { errorErrno: 'EBADMSG', lastError: 'its content is damaged' })
    refused(jobAt('/a.txt').intention)
    expect(parts.notices).toEqual([{ kind: 'damaged', sentence: 'its content is damaged' }])
  })

  it('a delete: the document is shown again', async () => {
    await calls.unlink('/given.txt')
    expect(await calls.readdir('/')).not.toContain('given.txt')
    refused(jobAt('/given.txt').intention)
    expect(synced('/given.txt')).toBeUndefined()
    expect(await calls.readdir('/')).toContain('given.txt')
    expect(parts.notices).toMatchObject([{ kind: 'refused', path: '/given.txt', isKept: false }])
  })

  it('a delete in a folder that is not known is only told', () => {
    refused(nobodys({ kind: 'delete', path: '/nowhere/a.txt' }))
    expect(parts.notices).toMatchObject([{ kind: 'refused', path: '/nowhere/a.txt' }])
  })
})

describe('moveDetached', () => {
  /** The same intention with content, as the queue journals it. */
  async function brought(intention: Intention): Promise<Intention> {
    const file = sb.spool.create('moved.txt')
    await file.write(0, Buffer.from('brought here'))
    return { ...intention, spool: file.id }
  }
  const moveDetached = (intention: Intention): void => say({ kind: 'moveDetached', intention })

  it('a move shows what was brought here: the service has nothing of it, and its change goes on', async () => {
    const { node, job } = await moving()
    const intention = await brought(job.intention)
    moveDetached(intention)
    expectState(node, 'saved')
    expect([node.content?.id, node.remote, node.job]).toEqual([intention.spool, undefined, job])
    expect(node.content !== undefined && node.unsent.isOf(node.content)).toBe(true)
    expect(sb.tree.versions.shownElsewhere('/moving.txt')).toEqual([])
    expect(Buffer.from(sb.journal.contents.get(intention.spool ?? '') ?? []).toString()).toBe('brought here')
  })

  it('a move of which nothing is left is not read from where something else comes', async () => {
    const { node, job } = await moving()
    moveDetached(job.intention)
    expect([node.stored.elsewhere, node.content, node.job]).toEqual([undefined, undefined, job])
    expect(sb.tree.versions.shownElsewhere('/moving.txt')).toEqual([])
  })

  it('the name it was to leave hides nothing of what comes to stand there', async () => {
    const { job } = await moving()
    moveDetached(job.intention)
    expect(synced('/moving.txt')?.isAgreed).toBe(false)
    const left = job.intention.source
    Object.assign(job.intention, { source: undefined })
    say({ kind: 'moveDetached', intention: job.intention, left })
    expect(synced('/moving.txt')?.isAgreed).toBe(true)
  })

  it('content that is here stays what is shown', async () => {
    const { node, job } = await moving()
    const file = await calls.open('/moved.txt', 'r+')
    await file.write('ours', 0)
    const { content } = node
    moveDetached(await brought(job.intention))
    expect([node.content, node.remote]).toEqual([content, undefined])
    await file.close()
  })

  it('a document that was renamed meanwhile is read from where it was', async () => {
    const { node, job } = await moving()
    await calls.rename('/moved.txt', '/again.txt')
    const { elsewhere } = node.stored
    const newest = node.job
    expect(newest).not.toBe(job)
    moveDetached(await brought(job.intention))
    expect([node.stored.elsewhere, node.content, node.job]).toEqual([elsewhere, undefined, newest])
  })

  it('a document that was renamed meanwhile shows it once that is what its newest change carries', async () => {
    const { node, job } = await moving()
    await calls.rename('/moved.txt', '/again.txt')
    const { intention } = jobAt('/again.txt')
    const { spool } = await brought(job.intention)
    moveDetached({ ...job.intention, spool })
    const successor = new Job({ ...intention, spool, source: undefined })
    say({ kind: 'replaced', intention, successor })
    expectState(node, 'saved')
    expect([node.content?.id, node.remote, node.job]).toEqual([spool, undefined, successor])
    expect(sb.tree.versions.shownElsewhere('/moving.txt')).toEqual([])
  })

  it('what nobody waits for changes nothing but the journal: it is only here, has no name, or never had a node', async () => {
    const { node, job } = await moving()
    node.local.markLocalOnly()
    node.unsent.givenUp()
    const intention = await brought(job.intention)
    moveDetached(intention)
    moveDetached(nobodys({}))
    expectState(node, 'kept backup')
    expect([node.content, node.stored.elsewhere]).toEqual([undefined, '/moving.txt'])
    expect(sb.journal.contents.get(intention.spool ?? '')).toBeDefined()
  })

  it('a document without a name has its content from here', async () => {
    const { node, job } = await moving()
    const fh = await opened('/moved.txt')
    sb.tree.places.displace(node)
    const intention = await brought(job.intention)
    moveDetached(intention)
    expect([node.content?.id, node.remote]).toEqual([intention.spool, undefined])
    expect(sb.journal.attributes.all()).toEqual([])
    await parts.operations.release(fh)
  })
})
