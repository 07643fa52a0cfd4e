// Nodes, and the database itself, killed in the middle of everything: what was answered with 201 is there, whole.

import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkStore } from '../../../src/service/store/postgres/check.ts'
import { type Postgres, startPostgres } from '../../support/postgres.ts'
import { type CompiledCommand, type ServeProcess, compileCommand } from '../compiled-command.ts'
import { documentOf, files } from '../support.ts'

let command: CompiledCommand
let postgres: Postgres
let folder: string
let url: string
let key: string
const nodes: ServeProcess[] = []

async function startNode(): Promise<ServeProcess> {
  return command.serve('--data', folder, '--database', url, '--project', 'acme')
}

const passfile = process.env['PGPASSFILE']
beforeAll(async () => {
  command = await compileCommand()
  folder = await mkdtemp(join(tmpdir(), 'docmount-kills-'))
  // Of its own, for it is killed.
  postgres = await startPostgres()
  ;({ url } = await postgres.database())
  nodes.push(await startNode())
  key = nodes[0]!.announcement.projects[0]!.api_key!
  nodes.push(await startNode())
})
afterAll(async () => {
  for (const node of nodes) await node.end('SIGKILL')
  await postgres.close()
  if (passfile !== undefined) process.env['PGPASSFILE'] = passfile
  await command.remove()
  await rm(folder, { recursive: true, force: true })
})

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

test('nothing that was acknowledged is lost', async () => {
  const kept = new Map<string, string>()
  const sent = new Map<string, string>()
  const deleted = new Set<string>()
  const failures = new Map<string, number>()
  const over = new AbortController()
  let answered = 0
  const call = async (method: string, path: string, content?: Uint8Array): Promise<number> => {
    const node = nodes[Math.floor(Math.random() * nodes.length)]!
    const answer = await fetch(`${node.announcement.base_url}${files(path)}`, {
      method,
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      ...(content === undefined ? {} : { body: JSON.stringify(documentOf(content)) }),
    }).catch(() => undefined)
    const status = answer?.status ?? 0
    // The node is gone, or the database is away: no other failures. The client cannot know then whether its request
    // was carried out.
    if (status !== 0 && status >= 500 && status !== 503)
      failures.set(`${method} ${status} ${await answer!.text()}`, 1)
    else await answer?.arrayBuffer().catch(() => undefined)
    return status
  }
  const client = async (number: number): Promise<void> => {
    for (let index = 0; !over.signal.aborted; index++) {
      const path = `/client-${number}/${index % 7}/${index}.bin`
      const content = randomBytes([10, 8_000, 40_000, 400_000][index % 4]!)
      sent.set(path, hashOf(content))
      if ((await call('PUT', path, content)) === 201) kept.set(path, hashOf(content))
      answered++
      if (index % 5 === 4) {
        // Its own, and once: what became of it is known unless the answer was lost.
        const status = await call('DELETE', path)
        kept.delete(path)
        if (status === 204) deleted.add(path)
      }
      // While all is away, not as fast as it can.
      if (!kept.has(path)) await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  const clients = Array.from({ length: 16 }, (_, number) => client(number))
  const someAnswers = async (): Promise<void> => {
    const until = answered + 120
    await expect.poll(() => answered, { timeout: 100_000, interval: 20 }).toBeGreaterThan(until)
  }

  await someAnswers()
  await nodes[0]!.end('SIGKILL')
  await someAnswers()
  nodes[0] = await startNode()
  for (const mode of ['fast', 'immediate', 'fast', 'immediate'] as const) {
    await someAnswers()
    postgres.stop(mode)
    postgres.start()
    const before = kept.size
    // By themselves, and soon.
    await expect.poll(() => kept.size).toBeGreaterThan(before + 20)
  }
  over.abort()
  await Promise.all(clients)
  expect([...failures.keys()]).toEqual([])

  for (const [path, hash] of sent) {
    const node = nodes[sent.size % 2]!
    const answer = await fetch(`${node.announcement.base_url}${files(path)}`, {
      headers: { 'x-api-key': key },
    })
    if (answer.status === 404) {
      expect([path, kept.has(path)]).toEqual([path, false])
      continue
    }
    expect([path, deleted.has(path)]).toEqual([path, false])
    const { url: link } = (await answer.json()) as { url: string }
    expect(hashOf(Buffer.from(await (await fetch(link)).arrayBuffer()))).toBe(hash)
  }
  expect(kept.size).toBeGreaterThan(200)
  expect((await checkStore({ database: { url }, dataDir: folder })).findings).toEqual([])
}, 300_000)
