// Backups in a bucket, and uploads whose bytes change on the way: of an S3 that is nobody's imitation. `scripts/test --all` starts it.

import { execFileSync } from 'node:child_process'
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, request as forward } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { BackupError } from '../../../src/service/backup/manifest.ts'
import { openPlace } from '../../../src/service/backup/places.ts'
import { restoreBackup } from '../../../src/service/backup/restore-backup.ts'
import { S3Client } from '../../../src/service/blobs/s3/client.ts'
import { listObjects } from '../../../src/service/blobs/s3/lists.ts'
import { partBytesOf, partLimits, S3Writer } from '../../../src/service/blobs/s3/writer.ts'
import { startService } from '../../../src/service/index.ts'
import { type Gate, startGate } from '../../support/gate.ts'
import { answerJson, startRawServer } from '../../support/raw-server.ts'
import { waitUntil } from '../../support/wait-until.ts'
import { type TestService, files, startTestService } from '../support.ts'

const folder = process.env['DOCMOUNT_TEST_S3']
const engines = new URL('../../../scripts/engines', import.meta.url).pathname

test('the parts that S3 allows, and each within its limits, hold the largest object of S3', () => {
  const sizes = Array.from({ length: partLimits.parts }, (_, number) => partBytesOf(number, partLimits))
  expect(sizes.reduce((sum, bytes) => sum + bytes)).toBeGreaterThan(5 * 1024 ** 4)
  expect(Math.min(...sizes)).toBeGreaterThanOrEqual(5 * 1024 ** 2)
  expect(Math.max(...sizes)).toBeLessThanOrEqual(5 * 1024 ** 3)
})

describe.skipIf(folder === undefined)('with a bucket', () => {
  let url: string
  let credentials: string
  let here: string
  let service: TestService | undefined

  beforeAll(async () => {
    ;({ url, credentials } = JSON.parse(
      execFileSync(engines, ['start-s3', folder!], { encoding: 'utf8' }),
    ) as { url: string; credentials: string })
    vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', credentials)
    here = await mkdtemp(join(tmpdir(), 'docmount-s3-backups-'))
  })
  afterEach(async () => {
    await service?.close()
    service = undefined
  })
  afterAll(async () => {
    vi.unstubAllEnvs()
    await rm(here, { recursive: true, force: true })
  })

  /** `s3://documents/PREFIX/NAME?endpoint=…` */
  const at = (prefix: string, name = ''): string =>
    url.replace('?', `/${prefix}${name === '' ? '' : `/${name}`}?`)

  const keysOf = async (place: string): Promise<string[]> => {
    const client = await S3Client.open({ url: place.startsWith('s3:') ? place : at(place) }, Date.now)
    const keys: string[] = []
    for await (const page of listObjects(client, '')) keys.push(...page.map(({ key }) => key))
    return keys
  }

  const start = async (): Promise<TestService> => {
    service = await startTestService({ database: undefined } as never)
    return service
  }

  async function restored(backup: string, name: string, key: string): Promise<Buffer> {
    const again = join(here, randomUUID())
    await restoreBackup(backup, again)
    const other = await startService({ dataDir: again })
    try {
      const answer = await fetch(`${other.baseUrl}${files(name)}`, { headers: { 'x-api-key': key } })
      const { url: link } = (await answer.json()) as { url: string }
      return Buffer.from(await (await fetch(link)).arrayBuffer())
    } finally {
      await other.close()
    }
  }

  test('a second backup sends only what is new, each can be restored, and what none needs any more goes', async () => {
    const [one, two, three] = [randomBytes(100_000), randomBytes(9 * 1024 * 1024), randomBytes(200_000)]
    const started = await start()
    const { key, dataDir } = started
    const prefix = randomUUID()
    const place = await openPlace(at(prefix))
    await started.put('/one', one)
    await started.put('/two', two)
    expect(await place.make(dataDir, 'monday')).toMatchObject({ documents: 2, contents: 2 })
    await started.delete('/one')
    await started.put('/three', three)
    expect(await place.make(dataDir, 'tuesday')).toMatchObject({ documents: 2, contents: 2, linked: 1 })
    expect((await place.list()).map(({ name }) => name)).toEqual(['tuesday', 'monday'])
    expect((await keysOf(prefix)).filter((each) => each.startsWith('contents/'))).toHaveLength(3)
    expect((await restored(at(prefix, 'monday'), '/one', key)).equals(one)).toBe(true)
    expect((await restored(at(prefix, 'tuesday'), '/two', key)).equals(two)).toBe(true)
    await place.remove(['monday'])
    expect((await keysOf(prefix)).filter((each) => each.startsWith('contents/'))).toHaveLength(2)
    await expect(restoreBackup(at(prefix, 'monday'), join(here, 'no'))).rejects.toThrow(
      /no whole backup monday; it has tuesday/,
    )
    expect((await restored(at(prefix, 'tuesday'), '/three', key)).equals(three)).toBe(true)
  })

  describe('made while another is removed', () => {
    let gate: Gate
    const prefixes = { place: '', gated: '' }

    beforeEach(async () => {
      const endpoint = new URL(new URL(url).searchParams.get('endpoint')!)
      gate = await startGate(() => Number(endpoint.port))
      prefixes.place = at(randomUUID())
      prefixes.gated = prefixes.place.replace(endpoint.origin, new URL(gate.baseUrl).origin)
    })
    afterEach(() => gate[Symbol.asyncDispose]())

    /** Keeps the first request where `METHOD PATH > METHOD PATH` of the one before it and itself matches; does `work` meanwhile. */
    async function during(
      step: RegExp,
      begin: () => Promise<unknown>,
      work: () => Promise<unknown>,
    ): Promise<void> {
      let isKept = false
      let before = ''
      gate.decide = ({ method, path }) => {
        const steps = `${before} > ${method} ${path}`
        before = `${method} ${path}`
        if (isKept || !step.test(steps)) return 'pass'
        isKept = true
        return 'keep'
      }
      const begun = begin()
      begun.catch(() => undefined)
      await waitUntil('the request is kept', () => gate.kept === 1)
      await work()
      gate.release()
      await begun
    }

    async function mondayOf(contents: Record<string, Buffer>): Promise<TestService> {
      const started = await start()
      for (const [name, content] of Object.entries(contents)) await started.put(name, content)
      await (await openPlace(prefixes.place)).make(started.dataDir, 'monday')
      return started
    }

    const backupAt = (name: string): string => prefixes.place.replace('?', `/${name}?`)
    const one = randomBytes(100_000)

    test.each([
      ['it has counted on contents', /> PUT \S+\/tuesday\/service\.db$/],
      ['it has written its list', /PUT \S+\/tuesday\/contents >/],
      ['it has all but its manifest', /> PUT \S+\/tuesday\/backup\.json$/],
    ])('after %s has every content all the same', async (_, step) => {
      const { dataDir, key } = await mondayOf({ '/one': one })
      const [direct, gated] = [await openPlace(prefixes.place), await openPlace(prefixes.gated)]
      await during(
        step,
        () => gated.make(dataDir, 'tuesday'),
        () => direct.remove(['monday']),
      )
      expect((await restored(backupAt('tuesday'), '/one', key)).equals(one)).toBe(true)
    })

    test('by a removal that has decided has every content all the same', async () => {
      const { dataDir, key } = await mondayOf({ '/one': one })
      const [direct, gated] = [await openPlace(prefixes.place), await openPlace(prefixes.gated)]
      await during(
        /> DELETE \S+\/contents\/..\//,
        () => gated.remove(['monday']),
        () => direct.make(dataDir, 'tuesday'),
      )
      expect((await restored(backupAt('tuesday'), '/one', key)).equals(one)).toBe(true)
    })

    test('by a removal that has begun keeps what it counts on', async () => {
      const { dataDir, key } = await mondayOf({ '/one': one })
      const [direct, gated] = [await openPlace(prefixes.place), await openPlace(prefixes.gated)]
      await during(
        /> PUT \S+\/contents\/removing\//,
        () => gated.remove(['monday']),
        () => direct.make(dataDir, 'tuesday'),
      )
      expect(await keysOf(prefixes.place)).toHaveLength(5)
      expect((await restored(backupAt('tuesday'), '/one', key)).equals(one)).toBe(true)
    })

    test('by a removal that was killed is whole, and the next removal leaves only what it needs', async () => {
      const { dataDir, key } = await mondayOf({ '/one': one, '/two': randomBytes(100_000) })
      const [direct, gated] = [await openPlace(prefixes.place), await openPlace(prefixes.gated)]
      let deleted = 0
      gate.decide = ({ method, path }) =>
        method === 'DELETE' && /\/contents\/..\//.test(path) && ++deleted > 1 ? 'unauthorized' : 'pass'
      await expect(gated.remove(['monday'])).rejects.toThrow(/401/)
      await direct.make(dataDir, 'tuesday')
      expect((await restored(backupAt('tuesday'), '/one', key)).equals(one)).toBe(true)
      await direct.make(dataDir, 'wednesday')
      await direct.remove(['tuesday'])
      // Two contents; the database, the secret, the list and the manifest of wednesday.
      expect(await keysOf(prefixes.place)).toHaveLength(6)
      expect((await restored(backupAt('wednesday'), '/one', key)).equals(one)).toBe(true)
    })
  })

  test('backups of earlier versions, whose contents have no random part in their names, can be restored and shared', async () => {
    const started = await start()
    const { key, dataDir } = started
    const prefix = randomUUID()
    const one = randomBytes(100_000)
    await started.put('/one', one)
    const place = await openPlace(at(prefix))
    await place.make(dataDir, 'monday')
    const client = await S3Client.open({ url: at(prefix) }, Date.now)
    const sha256 = createHash('sha256').update(one).digest('hex')
    const now = (await keysOf(prefix)).find((each) => each.startsWith('contents/'))!
    for (const [name, body] of [
      [`contents/${sha256.slice(0, 2)}/${sha256}`, one],
      ['monday/contents', `${sha256}\n`],
    ] as const)
      await client.ask({ method: 'PUT', key: name, body })
    await client.ask({ method: 'DELETE', key: now })
    expect(await place.make(dataDir, 'tuesday')).toMatchObject({ linked: 1 })
    await place.remove(['monday'])
    expect((await restored(at(prefix, 'tuesday'), '/one', key)).equals(one)).toBe(true)
  })

  test('a backup whose content was changed in the bucket is not restored', async () => {
    const started = await start()
    const { dataDir } = started
    const prefix = randomUUID()
    await started.put('/one', randomBytes(100_000))
    await (await openPlace(at(prefix))).make(dataDir, 'monday')
    const content = (await keysOf(prefix)).find((each) => each.startsWith('contents/'))!
    const writer = new S3Writer(await S3Client.open({ url: at(prefix) }, Date.now), content)
    await writer.write(Buffer.from('something else'))
    await writer.finish()
    await expect(restoreBackup(at(prefix, 'monday'), join(here, 'damaged'))).rejects.toThrow(BackupError)
  })

  test('a name is needed, and one that is there stays', async () => {
    const { dataDir } = await start()
    const prefix = randomUUID()
    const place = await openPlace(at(prefix))
    await place.make(dataDir, 'monday')
    await expect(place.make(dataDir, 'monday')).rejects.toThrow(/there already/)
    await expect(restoreBackup('s3://documents', join(here, 'none'))).rejects.toThrow(/has a name/)
  })

  test('a service makes backups of itself into it, with the key of a role', async () => {
    const text = await readFile(credentials, 'utf8')
    const [id, secret] = ['aws_access_key_id', 'aws_secret_access_key'].map(
      (name) => new RegExp(`${name} = (.*)`).exec(text)![1]!,
    )
    await using agent = await startRawServer((_, response) =>
      answerJson(response, 200, {
        AccessKeyId: id,
        SecretAccessKey: secret,
        Expiration: new Date(Date.now() + 3_600_000),
      }),
    )
    vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', '/nowhere')
    vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', agent.origin)
    try {
      const prefix = randomUUID()
      const dataDir = await mkdtemp(join(here, 'data-'))
      service = await startTestService({
        database: undefined,
        dataDir,
        backups: { to: at(prefix), everyMs: 1_000, keep: 1 },
      } as never)
      const started = service
      const { key } = started
      const content = randomBytes(100_000)
      await started.put('/one', content)
      const place = await openPlace(at(prefix))
      const first = await vi.waitFor(
        async () => {
          const [latest] = await place.list()
          expect(latest).toBeDefined()
          return latest!
        },
        { timeout: 100_000, interval: 200 },
      )
      await vi.waitFor(async () => expect((await place.list())[0]!.name).not.toBe(first.name), {
        timeout: 60_000,
        interval: 200,
      })
      await service.close()
      const [latest, ...older] = await place.list()
      expect(older.length).toBeLessThanOrEqual(1)
      expect((await restored(at(prefix, latest!.name), '/one', key)).equals(content)).toBe(true)
    } finally {
      vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', credentials)
      vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', '')
    }
  })

  test('an upload gets larger parts the longer it is, and never more than are allowed', async () => {
    const client = await S3Client.open({ url: at(randomUUID()) }, Date.now)
    const MiB = 1024 * 1024
    const limits = { firstBytes: 5 * MiB, largestBytes: 20 * MiB, parts: 10 }
    const writer = new S3Writer(client, 'long', limits)
    const hash = createHash('sha256')
    for (let sent = 0; sent < 60; sent++) {
      const piece = randomBytes(MiB)
      hash.update(piece)
      await writer.write(piece)
    }
    const { sha256, size } = await writer.finish()
    expect([sha256, size]).toEqual([hash.digest('hex'), 60 * MiB])
    const { bytes, headers } = await client.ask({ method: 'GET', key: 'long' })
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256)
    // 5 + 10 + 20 + 20 + 5 MiB; S3 puts the number of parts behind the digest.
    expect(headers.get('etag')).toMatch(/-5"$/)
  })

  test.each([
    ['of one piece', 100_000],
    ['of two parts', 9 * 1024 * 1024],
  ])(
    'an upload %s whose bytes change on the way is refused by the bucket, and sent again',
    async (_, size) => {
      const endpoint = new URL(new URL(url).searchParams.get('endpoint')!)
      let damaged = 0
      const refusals: number[] = []
      // Turns one bit of the first body.
      const line = createServer((incoming, outgoing) => {
        const onward = forward(
          {
            host: endpoint.hostname,
            port: endpoint.port,
            method: incoming.method,
            path: incoming.url,
            headers: incoming.headers,
          },
          (answer) => {
            if (answer.statusCode! >= 400) refusals.push(answer.statusCode!)
            outgoing.writeHead(answer.statusCode!, answer.headers)
            answer.pipe(outgoing)
          },
        )
        incoming.on('data', (chunk: Buffer) => {
          if (incoming.method === 'PUT' && damaged === 0) {
            damaged++
            chunk[0]! ^= 1
          }
          onward.write(chunk)
        })
        incoming.on('end', () => onward.end())
      })
      await new Promise<void>((resolve) => line.listen(0, '127.0.0.1', resolve))
      try {
        const prefix = randomUUID()
        const through = at(prefix).replace(endpoint.host, `127.0.0.1:${(line.address() as AddressInfo).port}`)
        const client = await S3Client.open({ url: through }, Date.now)
        const bytes = randomBytes(size)
        const writer = new S3Writer(client, 'some')
        await writer.write(bytes)
        await writer.finish()
        expect([damaged, refusals]).toEqual([1, [400]])
        const answer = await client.ask({ method: 'GET', key: 'some' })
        const hash = (of: Uint8Array): string => createHash('sha256').update(of).digest('hex')
        expect(hash(answer.bytes)).toBe(hash(bytes))
      } finally {
        line.closeAllConnections()
        await new Promise((resolve) => line.close(resolve))
      }
    },
  )
})
