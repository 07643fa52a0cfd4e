// The data folder: whose it may be, who may read it, and what remains in it.

import { createHash } from 'node:crypto'
import {
  chmod,
  copyFile,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { withAdmin } from '../../src/service/admin/reach-admin.ts'
import { StartError, startService } from '../../src/service/index.ts'
import { isOnPostgres } from '../support/store.ts'
import { type TestService, errorOf, startTestService } from './support.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'docmount-folder-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const modeOf = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8)

const contentsOf = async (dataDir: string): Promise<string[]> =>
  (await readdir(join(dataDir, 'blobs'), { recursive: true })).filter((name) => name.length > 64).toSorted()

const prefixOf = (content: Buffer): string => createHash('sha256').update(content).digest('hex').slice(0, 2)

async function refusalOf(dataDir: string): Promise<string> {
  const error: unknown = await startService({ dataDir }).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(StartError)
  return (error as Error).message
}

describe('what is deleted', () => {
  test('is in no file of the data folder any more, neither content nor name', async () => {
    const service = await startTestService()
    const marker = 'The formula of Coca-Cola is'
    const holders = async (): Promise<string[]> => {
      const found: string[] = []
      for (const name of await readdir(service.dataDir, { recursive: true })) {
        const bytes = await readFile(join(service.dataDir, name)).catch(() => Buffer.alloc(0))
        if (bytes.includes(marker) || bytes.includes('recipe-of')) found.push(name)
      }
      return found
    }
    await service.put('/folder/recipe-of.txt', `${marker} secret`)
    await service.put('/folder/recipe-of-large.txt', marker.repeat(10_000))
    expect(await holders()).not.toEqual([])
    await service.delete('/folder')
    await expect.poll(holders).toEqual([])
    await service.close()
  })

  test('makes the database small again', async () => {
    const service = await startTestService()
    const sizes = async (): Promise<number[]> =>
      Promise.all(
        ['service.db', 'service.db-wal'].map(async (name) => (await stat(join(service.dataDir, name))).size),
      )
    for (let at = 0; at < 100; at++) await service.put(`/many/${at}.txt`, String(at).padEnd(30_000))
    expect(Math.max(...(await sizes()))).toBeGreaterThan(2_000_000)
    await service.delete('/many')
    await expect.poll(sizes).toEqual([expect.toSatisfy((size: number) => size < 1_000_000), 0])
    await service.close()
  })
})

describe.skipIf(isOnPostgres)('the data folder of a running service', () => {
  const moved = async (dataDir: string, change: () => Promise<unknown>): Promise<TestService> => {
    const service = await startTestService({ dataDir })
    expect((await service.put('/before.txt', 'x')).status).toBe(201)
    await change()
    return service
  }
  const statusesOf = async (service: TestService): Promise<number[]> => [
    (await service.put('/after.txt', 'x')).status,
    (await service.delete('/before.txt')).status,
    (await service.call('GET', '/ready')).status,
  ]

  test('that is moved away: nothing is acknowledged until it is back', async () => {
    const dataDir = join(folder, 'data')
    const service = await moved(dataDir, () => rename(dataDir, join(folder, 'elsewhere')))
    expect(await statusesOf(service)).toEqual([503, 503, 503])
    expect(await errorOf(await service.put('/after.txt', 'x'))).toEqual({
      status: 503,
      message: 'service.db is not where it was: nothing is kept until it is',
    })
    await rename(join(folder, 'elsewhere'), dataDir)
    expect(await statusesOf(service)).toEqual([201, 204, 200])
    await service.close()
  })

  test('that is removed, and another put in its place: nothing is acknowledged', async () => {
    const dataDir = join(folder, 'data')
    const service = await moved(dataDir, () => rm(dataDir, { recursive: true }))
    expect(await statusesOf(service)).toEqual([503, 503, 503])
    await mkdir(dataDir)
    await writeFile(join(dataDir, 'service.db'), '')
    expect(await statusesOf(service)).toEqual([503, 503, 503])
    await service.close()
  })

  test('whose lock is removed: another service may have it now', async () => {
    const dataDir = join(folder, 'data')
    const service = await moved(dataDir, () => rm(join(dataDir, 'service.lock')))
    expect(await statusesOf(service)).toEqual([503, 503, 503])
    await service.close()
  })
})

describe('the data folder', () => {
  test('is refused when it holds files of somebody else, and nothing is added to it', async () => {
    await writeFile(join(folder, 'thesis.odt'), 'x')
    expect(await refusalOf(folder)).toBe(
      `${folder} holds files that are no service's (thesis.odt): choose an empty folder, or one a service has used`,
    )
    expect(await readdir(folder)).toEqual(['thesis.odt'])
  })

  test('is refused when it is a file, and when it cannot be made', async () => {
    const file = join(folder, 'file')
    await writeFile(file, 'x')
    expect(await refusalOf(file)).toBe(`${file} is not a folder`)
    expect(await refusalOf(join(file, 'below'))).toContain('cannot be made (ENOTDIR)')
    expect(await refusalOf('/proc/x')).toBe(
      '/proc/x cannot be made (ENOENT): choose a folder you may write to',
    )
  })

  test.skipIf(isOnPostgres)('is refused without its database, and the contents stay', async () => {
    const dataDir = join(folder, 'data')
    const service = await startTestService({ dataDir })
    await service.put('/large.txt', Buffer.alloc(100_000, 'x'))
    await service.close()
    const before = await contentsOf(dataDir)
    expect(before).toHaveLength(1)

    await rename(join(dataDir, 'service.db'), join(folder, 'aside.db'))
    for (const isEmpty of [false, true]) {
      if (isEmpty) await writeFile(join(dataDir, 'service.db'), '')
      expect(await refusalOf(dataDir)).toContain('service.db, which knows whose they are, is gone or empty')
      // Nor does whoever asks for its keys make another.
      await expect(withAdmin({ dataDir }, async (admin) => void (await admin.listKeys()))).rejects.toThrow(
        StartError,
      )
      expect(await contentsOf(dataDir)).toEqual(before)
    }

    await rename(join(folder, 'aside.db'), join(dataDir, 'service.db'))
    const again = await startTestService({ dataDir })
    expect((await again.get('/large.txt')).status).toBe(200)
    await again.close()
    expect(await contentsOf(dataDir)).toEqual(before)
  })

  test.skipIf(isOnPostgres)(
    'is refused with a database of another service, and the contents stay',
    async () => {
      const shared = Buffer.alloc(100_000, 'a logo that both have')
      const [one, other] = [join(folder, 'one'), join(folder, 'other')]
      for (const dataDir of [one, other]) {
        const service = await startTestService({ dataDir })
        await service.put('/own.txt', Buffer.alloc(100_000, dataDir))
        await service.put('/logo.txt', shared)
        await service.close()
      }
      await rename(join(one, 'service.db'), join(folder, 'aside.db'))
      await rename(join(other, 'service.db'), join(one, 'service.db'))
      const both = await contentsOf(one)
      expect(both).toHaveLength(2)
      // It knows one of them, which makes nobody theirs.
      expect(await refusalOf(one)).toContain('belong to another database')
      expect(await contentsOf(one)).toEqual(both)

      // A folder from before there were marks.
      await rm(join(one, 'blobs', 'database.json'))
      await rm(join(one, 'blobs', prefixOf(shared)), { recursive: true })
      expect(await refusalOf(one)).toContain('knows none of them')
      expect(await contentsOf(one)).toHaveLength(1)

      await rename(join(folder, 'aside.db'), join(one, 'service.db'))
      const again = await startTestService({ dataDir: one })
      expect((await again.get('/own.txt')).status).toBe(200)
      await again.close()
      expect(await contentsOf(one)).toHaveLength(1)
    },
  )

  test.skipIf(isOnPostgres)(
    'without contents takes any database, which is its own from then on',
    async () => {
      const dataDir = join(folder, 'data')
      await (await startTestService({ dataDir })).close()
      await rm(join(dataDir, 'service.db'))
      for (const path of ['/first.txt', '/second.txt']) {
        const service = await startTestService({ dataDir })
        expect((await service.put(path, Buffer.alloc(100_000, path))).status).toBe(201)
        await service.close()
      }
      expect(await contentsOf(dataDir)).toHaveLength(2)
    },
  )

  test.skipIf(isOnPostgres)(
    'is refused with an older copy of its database, and the contents stay',
    async () => {
      const dataDir = join(folder, 'data')
      const put = async (path: string): Promise<void> => {
        const service = await startTestService({ dataDir })
        expect((await service.put(path, Buffer.alloc(100_000, path))).status).toBe(201)
        await service.close()
      }
      await put('/first.txt')
      await put('/second.txt')
      await copyFile(join(dataDir, 'service.db'), join(folder, 'copy.db'))
      await put('/third.txt')
      await rename(join(dataDir, 'service.db'), join(folder, 'aside.db'))
      await copyFile(join(folder, 'copy.db'), join(dataDir, 'service.db'))
      const before = await contentsOf(dataDir)
      expect(before).toHaveLength(3)
      // However often it is tried.
      for (let time = 1; time <= 3; time++)
        expect(await refusalOf(dataDir)).toContain('is older than the contents')
      expect(await contentsOf(dataDir)).toEqual(before)

      // As the sentence says: who has no newer one goes on with it, without what it does not know.
      await rm(join(dataDir, 'blobs', 'database.json'))
      const older = await startTestService({ dataDir })
      expect((await older.get('/first.txt')).status).toBe(200)
      expect((await older.get('/third.txt')).status).toBe(404)
      await older.close()
      // It is the contents' own now, and the one it was copied from is not.
      await rename(join(folder, 'aside.db'), join(dataDir, 'service.db'))
      expect(await refusalOf(dataDir)).toContain('belong to another database')
    },
  )

  test.skipIf(isOnPostgres)(
    'is refused where the mark of a move is damaged: nobody knows whose it is',
    async () => {
      for (const text of ['', '{"id": "a', 'null', '{"id": "a"}']) {
        await writeFile(join(folder, 'service.moved'), text)
        expect(await refusalOf(folder)).toContain(`${join(folder, 'service.moved')} is damaged`)
      }
    },
  )

  test('is taken though a file of the database that was seen has gone by then', async () => {
    await symlink(join(folder, 'gone'), join(folder, 'service.gone'))
    await writeFile(join(folder, 'service.db'), '')
    await (await startService({ dataDir: folder })).close()
  })

  test('is its owner’s alone, whatever it was before', async () => {
    const before = process.umask(0)
    try {
      const dataDir = join(folder, 'data')
      await mkdir(dataDir, { mode: 0o777 })
      const first = await startTestService({ dataDir })
      await first.put('/small.txt', 'small')
      await first.put('/large.txt', Buffer.alloc(100_000))
      const check = async (): Promise<void> => {
        expect([await modeOf(dataDir), await modeOf(join(dataDir, 'blobs'))]).toEqual(['700', '700'])
        for (const entry of await readdir(dataDir, { withFileTypes: true }))
          if (entry.isFile())
            expect([entry.name, await modeOf(join(dataDir, entry.name))]).toEqual([entry.name, '600'])
      }
      await check()
      await first.service.close()
      for (const name of await readdir(dataDir)) await chmod(join(dataDir, name), 0o777)
      await chmod(dataDir, 0o755)
      const second = await startTestService({ dataDir })
      await second.put('/more.txt', 'more')
      await check()
      await second.service.close()
    } finally {
      process.umask(before)
    }
  })
})
