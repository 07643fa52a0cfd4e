// Whose change each intention carries: also the older ones of a document, and after a transaction that fails.

import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Job } from '../../../src/content/commit/job.ts'
import { intend, type IntentionDraft } from '../../../src/content/intention.ts'
import { Journal } from '../../../src/content/spool/journal.ts'
import type { SpoolFile } from '../../../src/content/spool/spool-file.ts'
import { Spool } from '../../../src/content/spool/spool.ts'
import { Node } from '../../../src/fs/tree/node.ts'
import { Owners } from '../../../src/fs/unsent/owners.ts'
import { realWorld } from '../../../src/world/world.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../../support/temporary-folder.ts'

let temporary: TemporaryFolder
let journal: Journal
let file: SpoolFile
let owners: Owners
let node: Node
let other: Node

const root = new Node(1, 'folder', undefined, '')

beforeEach(async () => {
  temporary = await makeTemporaryFolder()
  journal = new Journal(temporary.path, realWorld())
  file = new Spool(join(temporary.path, 'spool'), journal.contents, realWorld()).create('a.txt')
  owners = new Owners()
  node = new Node(2, 'file', root, 'a.txt')
  other = new Node(3, 'file', root, 'b.txt')
})

afterEach(async () => {
  journal.close()
  await temporary.remove()
})

const job = (id: number, draft: Partial<IntentionDraft> = {}): Job =>
  new Job(intend(id, { kind: 'put', path: '/a.txt', ...draft }, 0))
const [first, second, third] = [job(1), job(2), job(3)]
const nothing = { content: undefined, epoch: undefined }

function handIn(...jobs: readonly Job[]): void {
  for (const each of jobs) owners.handIn(node, each, nothing)
}

/** Owners of the first, the second and the third, and the jobs that the two documents wait for. */
function known(): unknown {
  const whose = [first, second, third].map(({ intention }) => owners.of(intention)?.name)
  return { whose, waits: [node, other].map((each) => each.job?.intention.id) }
}

/** The change, after it was undone by a transaction that failed. */
function changed(change: () => unknown): void {
  const before = known()
  expect(() =>
    journal.transaction(() => {
      change()
      throw new Error('the disk is full')
    }),
  ).toThrow('the disk is full')
  expect(known()).toEqual(before)
  change()
}

it('an intention that nobody handed in is nobody’s', () => {
  expect(owners.of(first.intention)).toBeUndefined()
  expect(owners.goesOnAs(first.intention, second)).toBeUndefined()
  expect(known()).toEqual({ whose: [undefined, undefined, undefined], waits: [undefined, undefined] })
})

it('a document waits for the newest, and owns the older ones, too', () => {
  handIn(first)
  changed(() => handIn(second))
  expect(known()).toEqual({ whose: ['a.txt', 'a.txt', undefined], waits: [2, undefined] })
})

it('what was written is handed in with its own content only', () => {
  node.local.become(file)
  node.local.wrote()
  owners.handIn(node, first, { content: file, epoch: undefined })
  expect([node.local.isWritten, node.unsent.isOf(file)]).toEqual([true, false])
  owners.handIn(node, second, { content: file, epoch: file.epoch })
  expect([node.local.isWritten, node.unsent.isOf(file)]).toEqual([false, true])
})

it('where nothing is left to do nothing is owned, and what was is not any more', () => {
  handIn(first)
  owners.handIn(node, undefined, nothing)
  expect(known()).toEqual({ whose: ['a.txt', undefined, undefined], waits: [undefined, undefined] })
})

it('a job of an earlier run is of the content that is here; a copy without any is the service’s to make', () => {
  node.local.become(file)
  owners.restore(node, first)
  expect([owners.of(first.intention), node.unsent.isOf(file)]).toEqual([node, true])
  const copy = job(4, { source: '/c.txt', keepSource: true })
  owners.restore(node, copy)
  expect(node.unsent.isCopy).toBe(false)
  owners.restore(other, copy)
  expect([other.unsent.isCopy, owners.of(copy.intention)]).toEqual([true, other])
})

it('what is taken back is nobody’s; the older one goes on', () => {
  handIn(first, second)
  changed(() => owners.withdraw(node))
  expect(known()).toEqual({ whose: ['a.txt', undefined, undefined], waits: [undefined, undefined] })
})

it('the newest is over', () => {
  handIn(first)
  let owner: Node | undefined
  changed(() => (owner = owners.goesOnAs(first.intention, undefined)))
  expect(owner).toBe(node)
  expect(known()).toEqual({ whose: [undefined, undefined, undefined], waits: [undefined, undefined] })
})

it('an older one is over: its document still waits for the newest', () => {
  handIn(first, second)
  let owner: Node | undefined
  changed(() => (owner = owners.goesOnAs(first.intention, undefined)))
  expect(owner).toBe(node)
  expect(known()).toEqual({ whose: [undefined, 'a.txt', undefined], waits: [2, undefined] })
})

it('the newest goes on as another', () => {
  handIn(first)
  changed(() => owners.goesOnAs(first.intention, third))
  expect(known()).toEqual({ whose: [undefined, undefined, 'a.txt'], waits: [3, undefined] })
})

it('an older one goes on as another: its document owns that, and waits for the newest', () => {
  handIn(first, second)
  changed(() => owners.goesOnAs(first.intention, third))
  expect(known()).toEqual({ whose: [undefined, 'a.txt', 'a.txt'], waits: [2, undefined] })
})

it('once the newest has arrived, older ones tell nothing of the document', () => {
  handIn(first, second)
  owners.handIn(other, third, nothing)
  changed(() => owners.settled(node))
  expect(known()).toEqual({ whose: [undefined, undefined, 'b.txt'], waits: [2, 3] })
})

it('what one has on its way is another’s', () => {
  handIn(first, second)
  owners.handIn(other, third, nothing)
  owners.handOver(node, other)
  expect(known()).toEqual({ whose: ['b.txt', 'b.txt', 'b.txt'], waits: [undefined, 3] })
  owners.settled(other)
  expect(known()).toEqual({ whose: [undefined, undefined, undefined], waits: [undefined, 3] })
})
