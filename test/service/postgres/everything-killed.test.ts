// Two nodes behind a balancer, a drive on top, clients beside it; a node, PostgreSQL and the gateway of the bucket are killed
// in the middle. Everything that was acknowledged is there, whole, and when the sweep has been round nothing is left over.

import { execFileSync } from 'node:child_process'
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { mkdir, readFile, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startService } from '../../../src/service/index.ts'
import { checkStore } from '../../../src/service/store/postgres/check.ts'
import { type Balancer, startBalancer } from '../../support/balancer.ts'
import { type MountedDrive, mountDrive } from '../../support/mounted.ts'
import { type Postgres, startPostgres } from '../../support/postgres.ts'
import type { TestService } from '../../support/service.ts'
import { type TemporaryFolder, makeTemporaryFolder } from '../../support/temporary-folder.ts'
import { type CompiledCommand, type ServeProcess, compileCommand } from '../compiled-command.ts'
import { documentOf, files } from '../support.ts'

/** One of its own, for its gateway is killed: beside the one that other tests use at the same time. */
const s3 =
  process.env['DOCMOUNT_TEST_S3'] === undefined ? undefined : `${process.env['DOCMOUNT_TEST_S3']}-killed`
const engines = new URL('../../../scripts/engines', import.meta.url).pathname
const MiB = 1024 * 1024
const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

describe.skipIf(s3 === undefined)('all of it killed in the middle', () => {
  const passfile = process.env['PGPASSFILE']
  const nodes: ServeProcess[] = []
  let command: CompiledCommand
  let postgres: Postgres
  let url: string
  let blobs: string
  let balancer: Balancer
  let folder: TemporaryFolder
  let drive: MountedDrive
  let key: string

  const portOf = (node: ServeProcess): number => Number(new URL(node.announcement.base_url).port)
  const gateway = (): { url: string; credentials: string } =>
    JSON.parse(execFileSync(engines, ['start-s3', s3!], { encoding: 'utf8' })) as never
  /** The second node sends downloads to the bucket itself: readers meet both. */
  function startNode(number: number): Promise<ServeProcess> {
    const options = ['--database', url, '--blobs', blobs, '--project', 'acme', '--log', 'off']
    if (number === 1) options.push('--s3-direct')
    return command.serve(...options, '--public-url', `http://127.0.0.1:${balancer.port}`)
  }

  beforeAll(async () => {
    command = await compileCommand()
    folder = await makeTemporaryFolder()
    const { url: bucket, credentials } = gateway()
    vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', credentials)
    blobs = bucket.replace('?', `/${randomUUID()}?`)
    // Of its own, for it is killed.
    postgres = await startPostgres()
    ;({ url } = await postgres.database())
    balancer = await startBalancer(() => nodes.map(portOf))
    nodes.push(await startNode(0))
    key = nodes[0]!.announcement.projects[0]!.api_key!
    nodes.push(await startNode(1))
    const baseUrl = `http://127.0.0.1:${balancer.port}/api`
    const testService = { apiKey: key, baseUrl } as TestService
    drive = await mountDrive({ testService, driver: 'kernel', folder: folder.path })
  })
  afterAll(async () => {
    await drive?.end()
    for (const node of nodes) await node.end('SIGKILL')
    await balancer?.[Symbol.asyncDispose]()
    await postgres?.close()
    execFileSync(engines, ['stop-s3', s3!])
    if (passfile !== undefined) process.env['PGPASSFILE'] = passfile
    vi.unstubAllEnvs()
    await command?.remove()
    await folder?.remove()
  })

  const call = async (method: string, path: string, content?: Uint8Array): Promise<number> => {
    const answer = await fetch(`http://127.0.0.1:${balancer.port}/api${files(path)}`, {
      method,
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      ...(content === undefined ? {} : { body: JSON.stringify(documentOf(content)) }),
    }).catch(() => undefined)
    await answer?.arrayBuffer().catch(() => undefined)
    return answer?.status ?? 0
  }

  test('nothing acknowledged is lost, no document is half, nothing is left after the sweep', async () => {
    /** By path: those that have to be there, and those that must not. */
    const kept = new Map<string, string>()
    const gone = new Set<string>()
    const refused = new Set<number>()
    const over = new AbortController()
    let answered = 0
    let written = 0
    const client = async (number: number): Promise<void> => {
      for (let index = 0; !over.signal.aborted; index++) {
        const path = `/client-${number}/${index % 3}/${index}.bin`
        const content = randomBytes([10, 40_000, 400_000, 9 * MiB][(index + number) % 4]!)
        const status = await call('PUT', path, content)
        if (status === 201) kept.set(path, hashOf(content))
        else refused.add(status)
        answered++
        if (index % 4 === 3 && kept.delete(path)) if ((await call('DELETE', path)) === 204) gone.add(path)
        // While all is away, not as fast as it can.
        if (status !== 201) await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
    const writer = async (): Promise<void> => {
      await mkdir(join(drive.mountpoint, 'drive'))
      for (let index = 0; !over.signal.aborted; index++) {
        const name = `drive/${index % 12}.txt`
        const file = join(drive.mountpoint, name)
        const content = randomBytes([100, 50_000, MiB][index % 3]!)
        await writeFile(file, content)
        kept.set(`/${name}`, hashOf(content))
        if (index % 5 === 4) {
          await unlink(file)
          kept.delete(`/${name}`)
          gone.add(`/${name}`)
        } else gone.delete(`/${name}`)
        written++
      }
    }
    const work = [...Array.from({ length: 4 }, (_, number) => client(number)), writer()]
    const some = async (): Promise<void> => {
      const [until, untilWritten] = [answered + 12, written + 3]
      await expect.poll(() => answered > until && written > untilWritten, { timeout: 120_000 }).toBe(true)
    }
    const kills: (() => unknown)[] = [
      async () => {
        await nodes[0]!.end('SIGKILL')
        await some()
        nodes[0] = await startNode(0)
      },
      () => {
        postgres.stop('fast')
        postgres.start()
      },
      () => {
        execFileSync(engines, ['stop-s3', s3!, 'gateway'])
        gateway()
      },
      () => {
        postgres.stop('immediate')
        postgres.start()
      },
    ]
    for (const kill of kills) {
      await some()
      await kill()
    }
    await some()
    over.abort()
    await Promise.all(work)
    await drive.docmount(['wait', drive.mountpoint], { limitMs: 120_000 })
    // The node is gone, or an engine is away; a client that asked again may find its own.
    expect([...refused].filter((status) => ![0, 409, 503].includes(status))).toEqual([])

    // Listings from the drive's beginning are believed for half a minute.
    await drive.docmount(['refresh', drive.mountpoint])
    for (const [path, hash] of kept) {
      const bytes = await readFile(join(drive.mountpoint, path.slice(1)))
      expect([path, hashOf(bytes)]).toEqual([path, hash])
    }
    for (const path of gone) expect([path, await call('GET', path)]).toEqual([path, 404])

    const place = { database: { url }, blobs: { url: blobs } }
    expect((await checkStore(place)).findings).toEqual([])
    // A day later: here the sweep of a node that waits for seconds only.
    for (const node of nodes.splice(0)) await node.end('SIGTERM')
    const sweeper = await startService({ ...place, graceMs: 1_000 })
    try {
      await expect
        .poll(async () => (await checkStore(place, { orphanMs: 0 })).findings, {
          timeout: 120_000,
          interval: 2_000,
        })
        .toEqual([])
    } finally {
      await sweeper.close()
    }
  }, 600_000)
})
