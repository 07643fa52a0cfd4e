// Whatever programs, other clients and the service do: every document is in one of the states of the table, and no node
// contradicts itself. The walk is random, from a seed that is told where it fails.

import { cp } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

import fc from 'fast-check'
import { expect, it } from 'vitest'

import { createClient } from '../../../src/api/client.ts'
import { operationsOf } from '../../../src/fs/file-system.ts'
import { start, stop } from '../../../src/fs/start.ts'
import type { Superblock } from '../../../src/fs/superblock.ts'
import { contradictions, described, documentStates, stateOf } from '../../../src/fs/tree/states.ts'
import type { Calls, OpenFile } from '../../support/door.ts'
import { objectDoor } from '../../support/object-door.ts'
import { project, startTestService, type TestService } from '../../support/service.ts'
import { checkShadow } from '../../world/shadow.ts'
import { makeTemporaryFolder } from '../../support/temporary-folder.ts'

const caller = { uid: 0, gid: 0, pid: process.pid, signal: new AbortController().signal }
const runs = 8
const mostSteps = 40

const path = fc.constantFrom<string[]>(
  '/a.txt',
  '/b.txt',
  '/b.txt~',
  '/.a.txt.swp',
  '/d/a.txt',
  '/d/c.txt',
  '/e/a.txt',
)
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('save' as const), path }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('open' as const), path }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('write' as const), path }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('close' as const), path }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('sync' as const), path }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('rename' as const), path, to: path }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('copy' as const), path, to: path }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('unlink' as const), path }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('truncate' as const), path }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('read' as const), path }) },
  { weight: 2, arbitrary: fc.constantFrom({ do: 'rename folder' as const }, { do: 'refresh' as const }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('another client' as const), path }) },
  { weight: 2, arbitrary: fc.constantFrom({ do: 'drain' as const }, { do: 'restart' as const }) },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

class Walk {
  readonly seen = new Set<string>()
  readonly #service: TestService
  readonly #open: () => Promise<Superblock>
  #sb: Superblock
  #calls: Calls
  #files = new Map<string, Pick<OpenFile, 'write' | 'sync' | 'close'>>()

  constructor(service: TestService, sb: Superblock, open: () => Promise<Superblock>) {
    this.#service = service
    this.#open = open
    this.#sb = sb
    this.#calls = objectDoor(operationsOf(sb))
  }

  /** One step, whatever comes of it; then everything known is looked at. */
  async take(one: Step): Promise<void> {
    await this.#do(one).catch((error: unknown) => {
      if (typeof (error as { code?: unknown }).code !== 'string') throw error
    })
    this.look()
  }

  look(): void {
    for (const node of this.#sb.tree.nodes.all()) {
      expect(contradictions(node), described(node)).toEqual([])
      const { job } = node
      if (job !== undefined && !job.isDone)
        expect(this.#sb.owners.of(job.intention), described(node)).toBe(node)
      // Without a name it is gone as soon as nobody has it open.
      if (node.folder !== undefined || node.isUnlinked) continue
      const state = stateOf(node)
      expect(state, described(node)).toBeDefined()
      this.seen.add(state?.name ?? '')
    }
    expect(this.#sb.queue.starved()).toEqual([])
    checkShadow(this.#sb)
  }

  async #do(one: Step): Promise<void> {
    const calls = this.#calls
    switch (one.do) {
      case 'save':
        return calls.writeFile(one.path, `saved ${one.path}`)
      case 'open':
        return this.#opened(one.path, 'r+')
      case 'write': {
        if (!this.#files.has(one.path)) await this.#opened(one.path, 'w+')
        return this.#files.get(one.path)?.write('written', 3)
      }
      case 'close': {
        const file = this.#files.get(one.path)
        this.#files.delete(one.path)
        return file?.close()
      }
      case 'sync':
        return this.#files.get(one.path)?.sync()
      case 'rename':
        return calls.rename(one.path, one.to)
      case 'copy':
        return this.#copied(one.path, one.to)
      case 'unlink':
        return calls.unlink(one.path)
      case 'truncate':
        return calls.truncate(one.path, 2)
      case 'read':
        return void (await calls.readFile(one.path))
      case 'rename folder':
        return calls.rename('/d', '/e')
      case 'refresh':
        return operationsOf(this.#sb).refresh('/')
      case 'another client':
        return this.#service.other.put(one.path, `theirs ${one.path}`)
      case 'drain':
        return void (await operationsOf(this.#sb).drain({ timeoutMs: 500 }))
      case 'restart':
        return this.restart()
    }
  }

  async #opened(at: string, mode: 'r+' | 'w+'): Promise<void> {
    if (this.#files.has(at)) return
    this.#files.set(at, await this.#calls.open(at, mode))
  }

  /** copy_file_range of a whole document into a new one, as `cp` does; that stays open. */
  async #copied(from: string, to: string): Promise<void> {
    const operations = operationsOf(this.#sb)
    const { size } = await this.#calls.stat(from)
    const source = this.#sb.tree.find(from)
    const folder = this.#sb.tree.find(dirname(to))
    if (this.#files.has(to) || source === undefined || folder === undefined) return
    const [read, write] = [
      { read: true, write: false, truncate: false },
      { read: true, write: true, truncate: false },
    ]
    const how = { mode: 0o644, flags: write, exclusive: true }
    const { entry, opened } = await operations.create(folder.ino, basename(to), how, caller)
    const close = async (): Promise<void> => {
      try {
        await operations.flush(opened.fh, caller)
      } finally {
        await operations.release(opened.fh)
        operations.forget(entry.attributes.ino, 1)
      }
    }
    const put = async (data: string | Uint8Array, position: number): Promise<void> =>
      void (await operations.write(opened.fh, position, Buffer.from(data as Uint8Array), caller))
    const sync = async (): Promise<void> => operations.fsync(opened.fh, caller)
    this.#files.set(to, { close, sync, write: put })
    const { fh } = await operations.open(source.ino, read, caller)
    try {
      await operations.copyFileRange(fh, 0, opened.fh, 0, size, caller)
    } finally {
      await operations.release(fh)
    }
  }

  async restart(): Promise<void> {
    await this.end()
    this.#sb = await this.#open()
    this.#calls = objectDoor(operationsOf(this.#sb))
  }

  async end(): Promise<void> {
    for (const file of this.#files.values()) await file.close().catch(() => {})
    this.#files.clear()
    this.look()
    await stop(this.#sb)
  }
}

/** A drive of its own for each walk, with three documents in the service. */
async function walked(
  steps: readonly Step[],
  options: { closeWaitMs: number; cacheTtlMs: number },
): Promise<ReadonlySet<string>> {
  const temporary = await makeTemporaryFolder()
  const service = await startTestService()
  for (const given of ['/a.txt', '/b.txt', '/d/a.txt']) await service.other.put(given, `given ${given}`)
  const client = createClient({ baseUrl: service.baseUrl, apiKey: service.apiKey })
  let starts = 0
  const open = async (): Promise<Superblock> => {
    const before = join(temporary.path, `state ${starts}`)
    const stateDir = join(temporary.path, `state ${++starts}`)
    // libsql keeps a database locked until its statements are collected: it goes on with a copy.
    if (starts > 1)
      await cp(before, stateDir, { recursive: true, filter: (file) => !file.includes('lock.db') })
    const cacheDir = join(temporary.path, 'cache')
    return start({ files: client.files(project), stateDir, cacheDir, ...options })
  }
  const walk = new Walk(service, await open(), open)
  try {
    for (const one of steps) await walk.take(one)
  } finally {
    await walk.end()
    await client.close()
    await service.close()
    await temporary.remove()
  }
  return walk.seen
}

it('every document is in a state of the table', { timeout: 300_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: mostSteps }), async (steps) => {
      await walked(steps, { closeWaitMs: 20, cacheTtlMs: 100 })
    }),
    { numRuns: runs },
  )
})

it('the table holds no state that nothing comes into', async () => {
  const seen = await walked(
    [
      { do: 'read', path: '/a.txt' },
      { do: 'write', path: '/d/c.txt' },
      { do: 'close', path: '/d/c.txt' },
      { do: 'drain' },
      { do: 'open', path: '/d/c.txt' },
      { do: 'write', path: '/d/c.txt' },
      { do: 'sync', path: '/d/c.txt' },
      { do: 'drain' },
      { do: 'rename', path: '/d/a.txt', to: '/e.txt' },
      { do: 'copy', path: '/a.txt', to: '/d/d.txt' },
      { do: 'save', path: '/.a.txt.swp' },
      { do: 'rename', path: '/b.txt', to: '/b.txt~' },
      { do: 'save', path: '/b.txt' },
    ],
    { closeWaitMs: 0, cacheTtlMs: 30_000 },
  )
  expect(documentStates.map(({ name }) => name).filter((name) => !seen.has(name))).toEqual([])
})
