// A disk that is full: nothing is lost, everything can be read and deleted, and what needs room is told so.

import { createHash, randomBytes } from 'node:crypto'
import { openSync, closeSync } from 'node:fs'
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openEmbedded } from '../../src/service/store/open-embedded.ts'
import { ensureProject } from '../../src/service/store/projects.ts'
import { run } from '../support/run.ts'
import { type CompiledCommand, compileCommand } from './compiled-command.ts'
import { documentOf, errorOf, files, startTestService } from './support.ts'

const isRoot = process.getuid?.() === 0

describe.skipIf(!isRoot)('a full disk', () => {
  let folder: string
  let command: CompiledCommand

  beforeAll(async () => {
    command = await compileCommand()
  })
  afterAll(() => command.remove())
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'docmount-full-'))
    await run('mount', ['-t', 'tmpfs', '-o', 'size=40m,mode=0700', 'tmpfs', folder])
  })
  afterEach(async () => {
    await run('umount', ['-l', folder], { mayFail: true })
    await rm(folder, { recursive: true, force: true })
  })

  /** Another program takes what is left, to the last byte. */
  const fill = (): Promise<unknown> =>
    run('sh', ['-c', 'cat /dev/zero > "$1/theirs" 2>/dev/null || true', 'sh', folder])

  test.each([
    ['large', 1_000_000],
    ['small', 32_000],
  ])(
    'of %s documents: uploads are 507, all else goes on, and deleting makes room',
    async (_, size) => {
      const dataDir = join(folder, 'data')
      const service = await startTestService({ dataDir })
      const kept = new Map<string, Buffer>()
      let refused = 0
      const upload = async (client: number): Promise<void> => {
        for (let at = 0; refused < 10; at++) {
          const content = randomBytes(size)
          const path = `/d/${client}-${at}.bin`
          const answer = await service.put(path, content)
          if (answer.status === 201) kept.set(path, content)
          else {
            expect(await errorOf(answer)).toMatchObject({
              status: 507,
              message: expect.stringContaining('full'),
            })
            if (refused++ === 0) await fill()
          }
        }
      }
      await Promise.all([1, 2, 3, 4].map(upload))
      // Refused uploads, and the clearing up behind them, take nothing of the reserve for deletions.
      expect((await stat(join(dataDir, 'service.reserve'))).size).toBe(16 * 1024 * 1024)
      expect(kept.size).toBeGreaterThan(10)
      const readAll = async (): Promise<void> => {
        await severalAtOnce(kept, async ([path, content]) => {
          const { url } = (await (await service.get(path)).json()) as { url: string }
          expect(content.equals(Buffer.from(await (await fetch(url)).arrayBuffer()))).toBe(true)
        })
      }
      await readAll()

      await severalAtOnce([...kept.keys()].slice(0, -3), async (path) => {
        expect((await service.delete(path)).status).toBe(204)
        kept.delete(path)
      })
      await readAll()
      await expect
        .poll(async () => (await service.put('/again.txt', 'x')).status, { interval: 200 })
        .toBe(201)
      expect((await service.delete('/d')).status).toBe(204)
      await service.service.close()
    },
    300_000,
  )

  test('that another program keeps full takes nothing from deletions', async () => {
    const dataDir = join(folder, 'data')
    await mkdir(dataDir)
    const { store, commits } = await openEmbedded(dataDir)
    const { project } = await ensureProject(store, 'acme', 0)
    const paths = Array.from({ length: 80 }, (_, at) => `/${at}.bin`)
    for (const path of paths) {
      const bytes = randomBytes(30_000)
      const blob = createHash('sha256').update(bytes).digest('hex')
      const file = { projectId: project.id, path, size: bytes.byteLength, mimetype: 'text/plain', blob }
      await commits.run('createFile', { file, now: 0, small: { sha256: blob, bytes } })
    }
    await fill()
    // Upkeep that the service does automatically must not use the reserve for deletions.
    await expect(sql`pragma wal_checkpoint(truncate)`.execute(store)).rejects.toThrow('full')
    for (const path of paths) {
      await fill()
      const { blobs } = await commits.run('removeTree', { projectId: project.id, path, now: 0 })
      await commits.run('removeSmall', { sha256s: blobs })
    }
    await store.destroy()
  })

  test('is no reason not to start, nor for the log to end the service', async () => {
    const dataDir = join(folder, 'data')
    const first = await startTestService({ dataDir })
    await first.put('/there.txt', 'x')
    await first.service.close()
    await fill()
    const log = openSync(join(folder, 'log'), 'a')
    const service = await command.serveWith({ stderr: log }, '--data', dataDir, '--project', 'acme', '-v')
    closeSync(log)
    const headers = { 'x-api-key': first.key, 'content-type': 'application/json' }
    const call = async (method: string, body?: string): Promise<number> =>
      (
        await fetch(
          `${service.announcement.base_url}${files(body === undefined ? '/there.txt' : '/new.txt')}`,
          {
            method,
            headers,
            body: body ?? null,
          },
        )
      ).status
    for (let at = 0; at < 20; at++) expect(await call('GET')).toBe(200)
    // Not a small one: the service tidies after its start, and finds a little room in its database.
    expect(await call('PUT', JSON.stringify(documentOf(randomBytes(2_000_000))))).toBe(507)
    expect(await call('DELETE')).toBe(204)
    await rm(join(folder, 'theirs'))
    await expect.poll(() => call('PUT', JSON.stringify(documentOf('x')))).toBe(201)
    expect(await service.end('SIGTERM')).toBe(0)
  })
})

async function severalAtOnce<T>(items: Iterable<T>, act: (item: T) => Promise<void>): Promise<void> {
  const rest = [...items].values()
  const lane = async (): Promise<void> => {
    for (const item of rest) await act(item)
  }
  await Promise.all(Array.from({ length: 8 }, lane))
}
