// The parts below the routes that several requests share at once.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { silentLog } from '../../src/log.ts'
import { ContentStore } from '../../src/service/blobs/content-store.ts'
import { openDiskBackend } from '../../src/service/blobs/disk.ts'
import { KeyedLock } from '../../src/service/blobs/keyed-lock.ts'
import type { Store } from '../../src/service/store/database.ts'
import { GroupCommit } from '../../src/service/store/group-commit.ts'
import { openStore } from '../../src/service/store/open-store.ts'
import { ensureProject, findProject, listProjects } from '../../src/service/store/projects.ts'

let folder: string
let store: Store

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'docmount-stores-'))
  store = await openStore(folder)
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
    const alone = lock.alone(['a', 'b'], async () => void order.push('alone'))
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
      Array.from({ length: 20 }, (_, index) => lock.alone(index % 2 ? ['a', 'b'] : ['b', 'a'], work)),
    )
  })

  test('goes on after work that failed', async () => {
    const lock = new KeyedLock()
    await expect(lock.share('a', () => Promise.reject(new Error('one')))).rejects.toThrow('one')
    await expect(lock.alone(['a'], () => Promise.reject(new Error('two')))).rejects.toThrow('two')
    expect(await lock.share('a', async () => 'three')).toBe('three')
  })
})

describe('a group commit', () => {
  const add = (name: string) => (transaction: Store) =>
    transaction.insertInto('projects').values({ id: name, name, created_at: 0, clock_ms: 0 }).execute()

  test('undoes the change that fails, and no other of its group', async () => {
    const commits = new GroupCommit(store)
    const outcomes = await Promise.allSettled([
      commits.run(add('one')),
      commits.run(async (transaction) => {
        await add('half')(transaction)
        throw new Error('changed my mind')
      }),
      commits.run(add('one')),
      commits.run(add('two')),
    ])
    expect(outcomes.map((outcome) => outcome.status)).toEqual([
      'fulfilled',
      'rejected',
      'rejected',
      'fulfilled',
    ])
    expect((await listProjects(store)).map((project) => project.name)).toEqual(['one', 'two'])
  })

  test('is seen by another connection once it is answered', async () => {
    const other = await openStore(folder)
    await new GroupCommit(store).run(add('seen'))
    expect(await findProject(other, 'seen')).toBeDefined()
    await other.destroy()
  })

  test('gives way to another process that writes, and comes after it', async () => {
    const other = await openStore(folder)
    const commits = new GroupCommit(store)
    await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        await ensureProject(other, `theirs ${index}`, 0)
        await commits.run(add(`ours ${index}`))
      }),
    )
    expect(await listProjects(store)).toHaveLength(40)
    await other.destroy()
  })
})

describe('a content store', () => {
  test.each([
    ['small', 1_000],
    ['large', 100_000],
  ])('keeps %s content while anybody refers to it', async (_, size) => {
    const blobs = new ContentStore(
      await openDiskBackend(join(folder, 'blobs')),
      store,
      new GroupCommit(store),
      silentLog,
    )
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
      await Promise.all([again, blobs.settled()])
      expect(await has(sha256)).toBe(true)
      referred.delete(sha256)
      blobs.collect([sha256])
      await blobs.settled()
      expect(await has(sha256)).toBe(false)
      expect(await blobs.share(sha256, async () => 'recorded')).toBeUndefined()
    }
  })
})
