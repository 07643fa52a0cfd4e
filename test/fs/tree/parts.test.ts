// Changes that each verb of a node and of its parts makes; and that a transaction which fails puts all of them back.

import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Job } from '../../../src/content/commit/job.ts'
import { intend } from '../../../src/content/intention.ts'
import { Journal } from '../../../src/content/spool/journal.ts'
import { SpoolFile } from '../../../src/content/spool/spool-file.ts'
import { Spool } from '../../../src/content/spool/spool.ts'
import { Node } from '../../../src/fs/tree/node.ts'
import { DoorPart } from '../../../src/fs/tree/parts/door.ts'
import { FolderPart } from '../../../src/fs/tree/parts/folder.ts'
import type { Time } from '../../../src/fs/operations.ts'
import { realWorld } from '../../../src/world/world.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../../support/temporary-folder.ts'

let temporary: TemporaryFolder
let journal: Journal
/** The older and the newer of two contents. */
let older: SpoolFile
let newer: SpoolFile

beforeAll(async () => {
  temporary = await makeTemporaryFolder()
  journal = new Journal(temporary.path, realWorld())
  const spool = new Spool(join(temporary.path, 'spool'), journal.contents, realWorld())
  older = spool.create('a.txt')
  newer = spool.create('a.txt')
  for (const [file, times] of [[older, 1], [newer, 2]] as const)
    for (let time = 0; time < times; time++) await file.write(time, Buffer.from('x'))
}) // prettier-ignore

afterAll(async () => {
  journal.close()
  await temporary.remove()
})

const root = new Node(1, 'folder', undefined, '')
const folder = new Node(2, 'folder', root, 'd')
const job = new Job(intend(1, { kind: 'put', path: '/a.txt' }, 0))
const successor = new Job(intend(2, { kind: 'put', path: '/a.txt' }, 0))
const [now, then]: [Time, Time] = [
  { sec: 2, nsec: 0 },
  { sec: 1, nsec: 0 },
]
const record = { kind: 'file', name: 'a.txt', size: 3, mimetype: undefined, url: undefined } as const
const first = { ...record, modifiedAt: '2026-01-01T00:00:00Z' }
const second = { ...record, modifiedAt: '2026-01-02T00:00:00Z' }
const unsized = { ...first, size: undefined }
const never = new Promise<void>(() => {})

/** Everything that can be asked of it, in words that tell one from another. */
function getters(part: object): Record<string, unknown> {
  const names = members(part).filter((name) => isGetter(part, name))
  return Object.fromEntries(names.map((name) => [name, worded((part as Record<string, unknown>)[name])]))
}

function verbs(part: object): string[] {
  return members(part).filter((name) => name !== 'constructor' && !isGetter(part, name))
}

function members(part: object): string[] {
  return Object.getOwnPropertyNames(Object.getPrototypeOf(part))
}

function isGetter(part: object, name: string): boolean {
  const described = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(part), name)
  return described !== undefined && 'get' in described
}

function worded(value: unknown): unknown {
  if (value instanceof Node) return value.path
  if (value instanceof SpoolFile) return value === older ? 'older' : 'newer'
  if (value instanceof Job) return value === job ? 'job' : 'successor'
  return value instanceof Promise ? 'under way' : value
}

function seen(node: Node): Record<string, Record<string, unknown>> {
  const { stored, local, unsent, times } = node
  return {
    place: getters(node),
    stored: { ...getters(stored), version: stored.versionAt('/a.txt') },
    local: getters(local),
    unsent: {
      ...getters(unsent),
      isOf: [unsent.isOf(older), unsent.isOf(newer)],
      isNewerThan: [unsent.isNewerThan(older), unsent.isNewerThan(newer)],
    },
    times: getters(times),
  }
}

/** Returns the result of `body` in a transaction that then fails. */
function failing<T>(body: () => T): T {
  let result: T | undefined
  expect(() =>
    journal.transaction(() => {
      result = body()
      throw new Error('the disk is full')
    }),
  ).toThrow('the disk is full')
  return result as T
}

interface Step {
  readonly part: 'place' | 'stored' | 'local' | 'unsent' | 'times'
  readonly verb: string
  /** Where it is not all of what the verb is for. */
  readonly when?: string
  readonly given?: (node: Node) => unknown
  readonly does: (node: Node) => unknown
  readonly shows: Record<string, unknown>
  /** Work under way is not put back. */
  readonly goesOn?: boolean
}

const at = '/b.txt'
const moved = { path: at, fingerprint: 'f' }
const shown = ({ stored }: Node): void => stored.replace(first, 5, at)
const withContent = ({ local }: Node): void => local.become(older)
const handed = ({ unsent }: Node): void => unsent.handedIn(job, older, older.epoch)

const steps: readonly Step[] = [
  { part: 'place', verb: 'moveTo', does: (node) => node.moveTo(folder, 'b.txt'),
    shows: { parent: '/d', name: 'b.txt', path: '/d/b.txt' } },
  { part: 'place', verb: 'unlink', does: (node) => node.unlink(), shows: { isUnlinked: true } },

  { part: 'stored', verb: 'replace', does: ({ stored }) => stored.replace(first, 5, undefined),
    shows: { record: first, elsewhere: undefined, askedAt: 5, fingerprint: '3@2026-01-01T00:00:00Z', size: 3,
      version: { path: '/a.txt', fingerprint: '3@2026-01-01T00:00:00Z', size: 3 } } },
  { part: 'stored', verb: 'replace', when: 'another version elsewhere',
    given({ stored }) { stored.replace(unsized, 5, undefined); stored.learn(7); stored.noteLookup(6) },
    does: ({ stored }) => stored.replace(unsized, 8, at),
    shows: { elsewhere: at, askedAt: 8, lookedUpAt: undefined, size: undefined } },
  { part: 'stored', verb: 'renew', given: shown, does: ({ stored }) => stored.renew(second, 9),
    shows: { record: second, askedAt: 9, elsewhere: at } },
  { part: 'stored', verb: 'moveTo', given: shown, does: ({ stored }) => stored.moveTo('/c.txt'),
    shows: { elsewhere: '/c.txt', version: { path: '/c.txt', fingerprint: '3@2026-01-01T00:00:00Z', size: 3 } } },
  { part: 'stored', verb: 'forget',
    given({ stored }) { stored.replace(unsized, 5, at); stored.learn(7); stored.noteLookup(6) },
    does: ({ stored }) => stored.forget(),
    shows: { record: undefined, elsewhere: undefined, lookedUpAt: undefined, size: undefined, version: undefined } },
  { part: 'stored', verb: 'noteLookup', given: shown, does: ({ stored }) => stored.noteLookup(6), shows: { lookedUpAt: 6 } },
  { part: 'stored', verb: 'expireLookup', given: ({ stored }) => stored.noteLookup(6),
    does: ({ stored }) => stored.expireLookup(), shows: { lookedUpAt: -Infinity } },
  { part: 'stored', verb: 'learn', given: ({ stored }) => stored.replace(unsized, 5, undefined),
    does: ({ stored }) => stored.learn(7), shows: { size: 7 } },

  { part: 'local', verb: 'become', does: ({ local }) => local.become(older), shows: { content: 'older', isDirty: true } },
  { part: 'local', verb: 'become', when: 'nothing', given({ local }) { local.become(older); local.wrote() },
    does: ({ local }) => local.become(undefined), shows: { content: undefined, isDirty: false, isWritten: false } },
  { part: 'local', verb: 'saved', given: withContent, does: ({ local }) => local.saved(), shows: { isDirty: false } },
  { part: 'local', verb: 'unsaved', given({ local }) { local.become(older); local.saved() },
    does: ({ local }) => local.unsaved(), shows: { isDirty: true } },
  { part: 'local', verb: 'wrote', given: withContent, does: ({ local }) => local.wrote(), shows: { isWritten: true } },
  { part: 'local', verb: 'handedIn', given({ local }) { local.become(older); local.wrote() },
    does: ({ local }) => local.handedIn(), shows: { isWritten: false, content: 'older', isDirty: true } },
  { part: 'local', verb: 'markLocalOnly', does: ({ local }) => local.markLocalOnly(), shows: { isLocalOnly: true } },
  { part: 'local', verb: 'closed', does: ({ local }) => local.closed(true), shows: { isCutOff: true } },
  { part: 'local', verb: 'publish', given({ local }) { local.become(older); local.markLocalOnly(); local.saved() },
    does: ({ local }) => local.publish(), shows: { isLocalOnly: false, isDirty: true } },
  { part: 'local', verb: 'bring', does: ({ local }) => void local.bring(never), shows: { copyUp: 'under way' }, goesOn: true },
  { part: 'local', verb: 'handOver', does: ({ local }) => local.handOver(never), shows: { handover: 'under way' }, goesOn: true },

  { part: 'unsent', verb: 'mayReplace', does: ({ unsent }) => unsent.mayReplace('f'), shows: { base: 'f' } },
  { part: 'unsent', verb: 'decide', does: ({ unsent }) => unsent.decide('f'), shows: { base: 'f', isDecided: true } },
  { part: 'unsent', verb: 'comesFrom', given: ({ unsent }) => unsent.copies(), does: ({ unsent }) => unsent.comesFrom(moved),
    shows: { movesFrom: moved, isCopy: false } },
  { part: 'unsent', verb: 'atOwnPath', given: ({ unsent }) => unsent.comesFrom(moved), does: ({ unsent }) => unsent.atOwnPath(),
    shows: { movesFrom: undefined } },
  { part: 'unsent', verb: 'copies', given: ({ unsent }) => unsent.comesFrom(moved), does: ({ unsent }) => unsent.copies(),
    shows: { isCopy: true, movesFrom: undefined } },
  { part: 'unsent', verb: 'contentReplaced', given(node) { handed(node); node.unsent.copies() },
    does: ({ unsent }) => unsent.contentReplaced(), shows: { job: 'job', isCopy: false, isOf: [false, false] } },
  { part: 'unsent', verb: 'handedIn', given: ({ unsent }) => unsent.comesFrom(moved), does: handed,
    shows: { job: 'job', movesFrom: undefined, isOf: [true, false], isNewerThan: [false, false] } },
  { part: 'unsent', verb: 'handedIn', when: 'newer content', given: handed,
    does: ({ unsent }) => unsent.handedIn(successor, newer, newer.epoch),
    shows: { job: 'successor', isOf: [false, true], isNewerThan: [true, false] } },
  { part: 'unsent', verb: 'handedIn', when: 'what an earlier close accepted', given: handed,
    does: ({ unsent }) => unsent.handedIn(successor, newer, undefined),
    shows: { job: 'successor', isOf: [true, false], isNewerThan: [true, false] } },
  { part: 'unsent', verb: 'goesOnAs', given: handed, does: ({ unsent }) => unsent.goesOnAs(successor),
    shows: { job: 'successor', isOf: [true, false] } },
  { part: 'unsent', verb: 'withdrawn', given: handed, does: ({ unsent }) => unsent.withdrawn(),
    shows: { job: undefined, isOf: [false, false], isNewerThan: [false, false] } },
  { part: 'unsent', verb: 'arrived', given: ({ unsent }) => unsent.copies(), does: ({ unsent }) => unsent.arrived(),
    shows: { isCopy: false } },
  { part: 'unsent', verb: 'givenUp', given(node) { handed(node); node.unsent.comesFrom(moved) },
    does: ({ unsent }) => unsent.givenUp(), shows: { job: undefined, movesFrom: undefined, isOf: [false, false] } },

  { part: 'times', verb: 'made', does: ({ times }) => times.made(0o100640, now),
    shows: { mode: 0o640, atime: now, mtime: now, ctime: now } },
  { part: 'times', verb: 'set', given: ({ times }) => times.made(0o640, then), does: ({ times }) => times.set({ mtime: now }, now),
    shows: { mode: 0o640, atime: then, mtime: now, ctime: now } },
  { part: 'times', verb: 'changed', given: ({ times }) => times.made(0o640, then), does: ({ times }) => times.changed(now),
    shows: { mode: 0o640, atime: then, mtime: now, ctime: now } },
  { part: 'times', verb: 'changed', when: 'read when it was shown to be', does: ({ times }) => times.changed(now, then),
    shows: { atime: then, mtime: now } },
  { part: 'times', verb: 'renamed', given: ({ times }) => times.made(0o640, then), does: ({ times }) => times.renamed(now),
    shows: { mode: 0o640, atime: then, mtime: then, ctime: now } },
  { part: 'times', verb: 'reset', given: ({ times }) => times.made(0o640, then), does: ({ times }) => times.reset({ mtime: now }),
    shows: { mode: undefined, atime: undefined, mtime: now, ctime: undefined } },
  { part: 'times', verb: 'reset', when: 'nothing was set', given: ({ times }) => times.made(0o640, then),
    does: ({ times }) => times.reset(), shows: { mode: undefined, atime: undefined, mtime: undefined, ctime: undefined } },
  { part: 'times', verb: 'freeze', does: ({ times }) => times.freeze({ mode: 0o600, atime: now, mtime: then, ctime: now }),
    shows: { mode: 0o600, atime: now, mtime: then, ctime: now } },
] // prettier-ignore

const titled = steps.map(
  (step) => [`${step.part}: ${step.verb}${step.when === undefined ? '' : `, ${step.when}`}`, step] as const,
)

describe('a verb of a node', () => {
  it.each(titled)('%s', (_title, { part, given, does, shows }) => {
    const node = new Node(3, 'file', root, 'a.txt')
    given?.(node)
    const before = seen(node)
    does(node)
    const after = seen(node)
    expect(after[part]).toMatchObject(shows)
    // `toMatchObject` takes what is missing for undefined.
    for (const name of Object.keys(shows)) expect(after[part]).toHaveProperty(name)
    expect(after).not.toEqual(before)
    // A part changes only what it says of itself: the node repeats it.
    for (const other of ['stored', 'local', 'unsent', 'times'].filter((name) => name !== part))
      expect(after[other], other).toEqual(before[other])
  })

  it.each(titled)('is put back: %s', (_title, { given, does, goesOn = false }) => {
    const node = new Node(3, 'file', root, 'a.txt')
    given?.(node)
    const before = seen(node)
    const after = failing(() => {
      does(node)
      return seen(node)
    })
    expect(seen(node)).toEqual(goesOn ? after : before)
  })

  it('is put back with all that came after it', () => {
    const node = new Node(3, 'file', root, 'a.txt')
    const before = seen(node)
    const after = failing(() => {
      for (const { given, does, goesOn = false } of steps) {
        if (goesOn) continue
        given?.(node)
        does(node)
      }
      return seen(node)
    })
    expect(after).not.toEqual(before)
    expect(seen(node)).toEqual(before)
  })

  it('is in this table, whichever it is', () => {
    const { stored, local, unsent, times } = new Node(3, 'file', root, 'a.txt')
    const questions = ['versionAt', 'isOf', 'isNewerThan']
    const parts = { place: new Node(3, 'file', root, 'a.txt'), stored, local, unsent, times }
    const all = Object.entries(parts).flatMap(([part, of]) => verbs(of).map((verb) => `${part}: ${verb}`))
    const asked = (verb: string): boolean => questions.includes(verb.split(': ')[1] ?? '')
    expect(new Set(steps.map(({ part, verb }) => `${part}: ${verb}`))).toEqual(
      new Set(all.filter((verb) => !asked(verb))),
    )
  })
})

it('a learned size counts only where the record tells none', () => {
  const { stored } = new Node(3, 'file', root, 'a.txt')
  stored.replace(first, 5, undefined)
  stored.learn(7)
  expect(stored.size).toBe(3)
  stored.renew(unsized, 6)
  expect(stored.size).toBe(7)
})

it('what is nowhere in the service is nowhere else', () => {
  const { stored } = new Node(3, 'file', root, 'a.txt')
  stored.moveTo('/b.txt')
  stored.expireLookup()
  expect(getters(stored)).toMatchObject({ elsewhere: undefined, lookedUpAt: undefined })
})

it('content is dirty again by each write after it was saved', async () => {
  const { local } = new Node(3, 'file', root, 'a.txt')
  local.become(older)
  const { epoch } = older
  await older.write(0, Buffer.from('y'))
  local.saved(epoch)
  expect(local.isDirty).toBe(true)
  local.saved()
  expect(local.isDirty).toBe(false)
})

it('a copy-up and a handover are over when their work is', async () => {
  const { local } = new Node(3, 'file', root, 'a.txt')
  await expect(local.bring(Promise.reject(new Error('away')))).rejects.toThrow('away')
  local.handOver(Promise.resolve())
  await local.handover
  expect([local.copyUp, local.handover]).toEqual([undefined, undefined])
})

describe('the door', () => {
  it('holds what it looked up as often as it did, and what it opened', () => {
    const door = new DoorPart()
    door.remember()
    door.remember()
    door.forget(1)
    expect([door.lookups, door.isHolding]).toEqual([1, true])
    door.forget(5)
    expect([door.lookups, door.isHolding]).toEqual([0, false])
    door.opened()
    door.opened(true)
    expect([door.openHandles, door.writeHandles, door.isHolding]).toEqual([2, 1, true])
    door.closed(true)
    expect([door.openHandles, door.writeHandles]).toEqual([1, 0])
    door.closed()
    expect(door.isHolding).toBe(false)
  })

  it('has pages of the content until that changes behind its back', () => {
    const door = new DoorPart()
    expect([door.showContent(), door.showContent()]).toEqual([false, true])
    door.contentChanged()
    expect(door.contentGeneration).toBe(1)
    expect([door.showContent(), door.showContent()]).toEqual([false, true])
  })
})

describe('a folder', () => {
  const flags = ({ isMadeHere, isOnlyHere }: FolderPart<string>): readonly boolean[] => [
    isMadeHere,
    isOnlyHere,
  ]

  it('is made here, only here, handed in and in the service, has children and keeps names, and each is undone', () => {
    const part = new FolderPart<string>()
    const seenNow = (): unknown => [flags(part), [...part.children], [...part.kept]]
    const verbs = [
      [() => part.makeHere(), [[true, false], [], []]],
      [() => part.makeOnlyHere(), [[true, true], [], []]],
      [() => part.handIn(), [[true, false], [], []]],
      [() => part.markCreatedRemotely(), [[false, false], [], []]],
      [() => part.put('a', 'child'), [[false, false], [['a', 'child']], []]],
      [() => part.keep('a'), [[false, false], [['a', 'child']], ['a']]],
      [() => part.unkeep('a'), [[false, false], [['a', 'child']], []]],
      [() => part.put('a', undefined), [[false, false], [], []]],
    ] as const
    for (const [verb, after] of verbs) {
      const before = seenNow()
      failing(verb)
      expect(seenNow()).toEqual(before)
      verb()
      expect(seenNow()).toEqual(after)
    }
  })

  it('that was handed in, or landed, is known to the service', () => {
    for (const verb of ['handIn', 'markCreatedRemotely'] as const) {
      const part = new FolderPart<string>()
      part.makeHere()
      part.makeOnlyHere()
      part[verb]()
      expect(flags(part)).toEqual([verb === 'handIn', false])
    }
  })

  it('is listed as it is until its names are others', () => {
    const part = new FolderPart<string>()
    expect([part.wasListed, part.isListedAsItIs]).toEqual([false, false])
    part.markListed()
    expect([part.wasListed, part.isListedAsItIs]).toEqual([true, true])
    part.change()
    expect([part.generation, part.wasListed, part.isListedAsItIs]).toEqual([1, true, false])
  })

  it('tells once what the listing that was given up said', () => {
    const part = new FolderPart<string>()
    part.dropListing('digest')
    expect([part.takeDropped(), part.takeDropped()]).toEqual(['digest', undefined])
    part.setMinRequestedAt(7)
    expect(part.minRequestedAt).toBe(7)
  })

  it('keeps the order its names were told in until nobody goes on from there', () => {
    const part = new FolderPart<string>()
    expect(part.hasOrder).toBe(false)
    part.order.take(['b', 'a'])
    part.order.take(['a', 'b', 'c'])
    expect([0, 1, 2].map((place) => part.order.at(place))).toEqual(['b', 'a', 'c'])
    part.forgetOrder()
    expect(part.hasOrder).toBe(false)
    expect(part.order.length).toBe(0)
  })
})
