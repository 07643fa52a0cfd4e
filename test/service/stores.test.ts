// The parts below the routes that several requests share at once.

import { readdirSync, symlinkSync, unlinkSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setImmediate as turn } from 'node:timers/promises'
import Libsql from 'libsql'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { silentLog } from '../../src/log.ts'
import { ContentStore } from '../../src/service/blobs/content-store.ts'
import { openDiskBackend } from '../../src/service/blobs/disk.ts'
import { pieceBytesOf, uploadPieces } from '../../src/service/pieces.ts'
import { KeyedLock } from '../../src/service/blobs/keyed-lock.ts'
import type { ChangeArgument } from '../../src/service/store/changes.ts'
import type { Store } from '../../src/service/store/database.ts'
import { listSmall } from '../../src/service/store/small-contents.ts'
import { openEmbedded } from '../../src/service/store/open-embedded.ts'
import type { Commits } from '../../src/service/store/opened-store.ts'
import { findByPath } from '../../src/service/store/nodes.ts'
import { ensureProject, listProjects } from '../../src/service/store/projects.ts'
import { Writer } from '../../src/service/store/writer.ts'

let folder: string
let store: Store
let commits: Commits

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'docmount-stores-'))
  ;({ store, commits } = await openEmbedded(folder))
})
afterEach(async () => {
  await store.destroy()
  await rm(folder, { recursive: true })
})

function gate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { opened, open }
}

describe('a keyed lock', () => {
  test('lets sharers run together, and who wants it alone wait for them', async () => {
    const lock = new KeyedLock()
    const { opened, open } = gate()
    const order: string[] = []
    const first = lock.share('a', () => opened.then(() => void order.push('first')))
    const second = lock.share('a', async () => void order.push('second'))
    const alone = lock.exclusive(['a', 'b'], async () => void order.push('alone'))
    const late = lock.share('a', async () => void order.push('late'))
    const elsewhere = lock.share('c', async () => void order.push('elsewhere'))
    await Promise.all([second, elsewhere])
    expect(order).toEqual(['second', 'elsewhere'])
    open()
    await Promise.all([first, alone, late])
    expect(order).toEqual(['second', 'elsewhere', 'first', 'alone', 'late'])
  })

  test('never lets two who want several keys wait for each other', async () => {
    const lock = new KeyedLock()
    let running = 0
    const work = async (): Promise<void> => {
      expect(++running).toBe(1)
      await turn()
      running--
    }
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => lock.exclusive(index % 2 ? ['a', 'b'] : ['b', 'a'], work)),
    )
  })

  test('goes on after work that failed', async () => {
    const lock = new KeyedLock()
    await expect(lock.share('a', () => Promise.reject(new Error('one')))).rejects.toThrow('one')
    await expect(lock.exclusive(['a'], () => Promise.reject(new Error('two')))).rejects.toThrow('two')
    expect(await lock.share('a', async () => 'three')).toBe('three')
  })
})

describe('a group commit', () => {
  let projectId: string

  beforeEach(async () => {
    const { project } = await ensureProject(store, 'acme', 0)
    projectId = project.id
  })

  const fileAt = (path: string): ChangeArgument<'createFile'> => ({
    file: { projectId, path, size: 1, mimetype: 'text/plain', blob: path },
    now: 0,
    small: { sha256: path, bytes: Buffer.from('x') },
  })
  const add = (path: string): Promise<unknown> => commits.run('createFile', fileAt(path))

  test('undoes the change that fails, and no other of its group', async () => {
    const outcomes = await Promise.allSettled(['/one', '/one/half', '/one', '/two'].map(add))
    expect(outcomes.map((outcome) => outcome.status)).toEqual([
      'fulfilled',
      'rejected',
      'rejected',
      'fulfilled',
    ])
    expect(outcomes[1]).toMatchObject({ reason: { statusCode: 400 } })
    expect(outcomes[2]).toMatchObject({ reason: { code: 'SQLITE_CONSTRAINT_UNIQUE' } })
    expect(await listSmall(store, '', 10)).toEqual(['/one', '/two'])
  })

  test('is seen by another connection once it is answered', async () => {
    const other = await openEmbedded(folder)
    await add('/seen')
    expect(await findByPath(other.store, projectId, '/seen')).toBeDefined()
    await other.store.destroy()
  })

  test('gives way to another process that writes, and comes after it', async () => {
    const other = await openEmbedded(folder)
    await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        await ensureProject(other.store, `theirs ${index}`, 0)
        await add(`/ours ${index}`)
      }),
    )
    expect(await listProjects(store)).toHaveLength(21)
    await other.store.destroy()
  })

  test('is refused with all that waits behind it where another process never lets go', async () => {
    const reserveFile = join(folder, 'service.reserve')
    const writer = new Writer({ file: join(folder, 'service.db'), reserveFile, waitLimitMs: 200 })
    const other = new Libsql(join(folder, 'service.db'))
    other.exec('begin immediate')
    const waiting: Promise<unknown>[] = Array.from({ length: 200 }, (_, at) =>
      writer.run('createFile', fileAt(`/${at}`)),
    )
    waiting.push(writer.begin())
    // The first refusal frees the database: a request that waited on its own would find it free.
    for (const one of waiting) one.catch(() => other.inTransaction && other.exec('commit'))
    const outcomes = await Promise.allSettled(waiting)
    expect(new Set(outcomes.map((one) => one.status === 'rejected' && one.reason.statusCode))).toEqual(
      new Set([503]),
    )
    await writer.run('createFile', fileAt('/later'))
    await writer.close()
    other.close()
  })

  test('does nothing of which its caller was told that it failed, as the thread had ended', async () => {
    // The thread ends where it cannot even ask for the size of its reserve.
    const reserveFile = join(folder, 'of-itself')
    symlinkSync('of-itself', reserveFile)
    const writer = new Writer({ file: join(folder, 'service.db'), reserveFile })
    const threads = (): string[] => readdirSync('/proc/self/task')
    const asked = await new Promise<Promise<unknown>[]>((resolve) => {
      // From a timer: the end of the thread is heard before the second request is sent, at the end of this turn.
      setTimeout(() => {
        const before = threads()
        const first = writer.run('createFile', fileAt('/first'))
        const started = threads().filter((thread) => !before.includes(thread))
        const second = writer.run('createFile', fileAt('/second'))
        while (started.some((thread) => threads().includes(thread)));
        // The next thread would go on.
        first.catch(() => unlinkSync(reserveFile))
        resolve([first, second])
      })
    })
    for (const outcome of await Promise.allSettled(asked))
      expect(outcome).toMatchObject({ status: 'rejected', reason: { message: 'the writer has ended' } })
    await writer.run('createFile', fileAt('/third'))
    await writer.close()
    expect(await listSmall(store, '', 10)).toEqual(['/third'])
  })

  test('waits for a transaction of several statements, which is undone as a whole', async () => {
    const half = store.transaction().execute(async (transaction) => {
      await transaction.updateTable('projects').set({ clock_ms: 1 }).execute()
      const added = add('/after')
      await transaction.updateTable('projects').set({ clock_ms: 2 }).execute()
      void added.catch(() => undefined)
      throw new Error('changed my mind')
    })
    await expect(half).rejects.toThrow('changed my mind')
    await add('/later')
    expect(await findByPath(store, projectId, '/after')).toMatchObject({ modified_at: 1 })
  })
})

describe('a content store', () => {
  test('gives content in pieces of what one download may hold', async () => {
    const blobs = new ContentStore(await openDiskBackend(join(folder, 'blobs')), store, commits, silentLog)
    const writer = blobs.stage()
    await writer.write(Buffer.alloc(300_000, 'x'))
    const staged = await writer.finish()
    await blobs.keep(staged, async () => undefined)
    const load = (downloads: number): Promise<unknown> =>
      blobs.load(staged.sha256, 0, staged.size - 1, pieceBytesOf(downloads, uploadPieces))
    expect(await load(64)).toHaveLength(300_000)
    for (const [downloads, bytes] of [
      [1_000, 268_435],
      [10_000, 65_536],
    ] as const) {
      const stream = (await load(downloads)) as Readable
      expect(stream.readableHighWaterMark).toBe(bytes)
      expect(await buffer(stream)).toHaveLength(300_000)
    }
  })

  test.each([
    ['small', 1_000],
    ['large', 100_000],
  ])('keeps %s content while anybody refers to it', async (_, size) => {
    const blobs = new ContentStore(await openDiskBackend(join(folder, 'blobs')), store, commits, silentLog)
    const referred = new Set<string>()
    blobs.addOwner(async (sha256s) => sha256s.filter((sha256) => referred.has(sha256)))
    const stage = async (): Promise<{ sha256: string; size: number }> => {
      const writer = blobs.stage()
      await writer.write(Buffer.alloc(size, 'x'))
      return writer.finish()
    }
    const has = async (sha256: string): Promise<boolean> =>
      (await blobs.open(sha256, 0, size - 1)) !== undefined

    // Uploads and removals of the same content, all at once: whoever was told that it is kept can read it.
    for (let round = 0; round < 20; round++) {
      const uploads = Array.from({ length: 5 }, async () => {
        const staged = await stage()
        await blobs.keep(staged as never, async () => void referred.add(staged.sha256))
        return staged.sha256
      })
      const [sha256 = ''] = await Promise.all(uploads)
      expect(await has(sha256)).toBe(true)
      referred.delete(sha256)
      blobs.collect([sha256])
      const again = stage().then((staged) =>
        blobs.keep(staged as never, async () => void referred.add(sha256)),
      )
      await Promise.all([again, blobs.whenIdle()])
      expect(await has(sha256)).toBe(true)
      referred.delete(sha256)
      blobs.collect([sha256])
      await blobs.whenIdle()
      expect(await has(sha256)).toBe(false)
      expect(await blobs.share(sha256, async () => 'recorded')).toBeUndefined()
    }
  })
})
