// A service that is killed at any moment: what was answered with 201 is there, whole, after the next start.

import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CompiledCommand, compileCommand } from './compiled-command.ts'
import { documentOf, files, startTestService } from './support.ts'

let command: CompiledCommand
let folder: string

beforeAll(async () => {
  command = await compileCommand()
  folder = await mkdtemp(join(tmpdir(), 'docmount-durable-'))
})
afterAll(async () => {
  await command.remove()
  await rm(folder, { recursive: true, force: true })
})

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

test('every 201 is there after kill -9, and nothing else is', async () => {
  const dataDir = join(folder, 'killed')
  const kept = new Map<string, string>()
  const unknown = new Map<string, string>()
  let key = ''
  for (let round = 0; round < 4; round++) {
    const service = await command.serve('--data', dataDir, '--project', 'acme')
    key ||= service.announcement.projects[0]!.api_key!
    const { base_url: baseUrl } = service.announcement
    let answered = 0
    const upload = async (client: number): Promise<void> => {
      for (let index = 0; ; index++) {
        const path = `/round-${round}/client-${client}/${index}.txt`
        const content = randomBytes([10, 8_000, 40_000, 400_000][index % 4]!)
        unknown.set(path, hashOf(content))
        const answer = await fetch(`${baseUrl}${files(path)}`, {
          method: 'PUT',
          body: JSON.stringify(documentOf(content)),
          headers: { 'x-api-key': key, 'content-type': 'application/json' },
        }).catch(() => undefined)
        if (answer === undefined) return
        expect(answer.status).toBe(201)
        kept.set(path, hashOf(content))
        if (++answered === 40 + 7 * round) service.process.kill('SIGKILL')
      }
    }
    await Promise.all([1, 2, 3, 4, 5, 6].map(upload))
    await service.end('SIGKILL')
  }

  const service = await startTestService({ dataDir })
  let found = 0
  for (const [path, hash] of unknown) {
    const answer = await service.get(path)
    if (answer.status === 404) {
      expect(kept.has(path)).toBe(false)
      continue
    }
    const { url } = (await answer.json()) as { url: string }
    expect(hashOf(Buffer.from(await (await fetch(url)).arrayBuffer()))).toBe(hash)
    found++
  }
  expect(found).toBeGreaterThanOrEqual(kept.size)
  expect(kept.size).toBeGreaterThan(150)
  expect(await readdir(join(dataDir, 'blobs', 'incoming'))).toEqual([])
  await service.close()
})

test('content that a crash left without a document is removed at the next start, other content is not', async () => {
  const dataDir = join(folder, 'swept')
  const first = await startTestService({ dataDir })
  const content = randomBytes(100_000)
  await first.put('/kept.txt', content)
  await first.service.close()
  const fileOf = (hash: string): string => join(dataDir, 'blobs', hash.slice(0, 2), hash)
  const orphan = fileOf(hashOf(Buffer.from('orphan')))
  await mkdir(dirname(orphan), { recursive: true })
  await writeFile(orphan, 'orphan')
  await writeFile(join(dataDir, 'blobs', 'incoming', 'half'), 'half')
  const second = await startTestService({ dataDir })
  await expect.poll(() => existsSync(orphan)).toBe(false)
  expect(existsSync(fileOf(hashOf(content)))).toBe(true)
  expect(await readdir(join(dataDir, 'blobs', 'incoming'))).toEqual([])
  await second.close()
})
