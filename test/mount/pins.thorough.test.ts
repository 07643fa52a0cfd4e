// Pins, fetch and the cache as the person at the command line meets them, through the kernel.

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { patternedBytes } from '../support/bytes.ts'
import { inDrive, startDesk, type Desk } from '../support/desk.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { project, startTestService, type TestService } from '../support/service.ts'
import { waitUntil } from '../support/wait-until.ts'

const MiB = 1024 * 1024

let desk: Desk
let drive: string
let testService: TestService

beforeEach(async () => {
  desk = await startDesk()
  ;({ drive, testService } = desk)
})
afterEach(() => desk.close())

async function done(...args: readonly string[]): Promise<string> {
  const ran = await desk.docmount(...args)
  expect(ran, `docmount ${args.join(' ')}`).toMatchObject({ code: 0 })
  return ran.stdout
}

const contentOf = async (path: string): Promise<string> =>
  (await inDrive('sha256sum', join(drive, path))).stdout.slice(0, 64)

async function put(path: string, sizeBytes: number): Promise<string> {
  const content = patternedBytes(sizeBytes, path)
  await testService.other.put(path, content)
  return createHash('sha256').update(content).digest('hex')
}

/** The path of a document of which two services tell the same length and time. */
async function storedAtOnce(one: TestService, another: TestService): Promise<string> {
  for (let turn = 0; turn < 500; turn++) {
    const path = `/${turn}.txt`
    await Promise.all([one.other.put(path, 'here ...'), another.other.put(path, 'or there')])
    const [here, there] = await Promise.all([one.other.get(path), another.other.get(path)])
    if (here?.modified_at === there?.modified_at) return path
  }
  throw new Error('no two were stored in one millisecond')
}

describe.skipIf(whyNoFuse() !== undefined)('one cache folder', () => {
  test('for two services: of documents alike in path, size and time each drive reads its own', async () => {
    const other = await startTestService()
    try {
      const path = await storedAtOnce(testService, other)
      for (const { baseUrl, apiKey, other: client } of [testService, other]) {
        desk.env = { ...desk.env, DOCMOUNT_BASE_URL: baseUrl, DOCMOUNT_API_KEY: apiKey }
        await done('mount', project, drive, '--cache-dir', join(desk.home, 'cache'))
        expect((await inDrive('cat', join(drive, path))).stdout).toBe(String(await client.bytes(path)))
        await done('unmount', drive)
      }
    } finally {
      await other.close()
    }
  })
})

describe.skipIf(whyNoFuse() !== undefined)('what is pinned', () => {
  test('is read without the service after a kill, though a small cache was read full meanwhile', async () => {
    const pinned = new Map<string, string>()
    for (const [at, size] of [0, 17, 300_000, 5 * MiB].entries())
      pinned.set(`/contracts/${at % 2}/${at}.pdf`, await put(`/contracts/${at % 2}/${at}.pdf`, size))
    for (let at = 0; at < 4; at++) await put(`/other/${at}.pdf`, 3 * MiB)
    await done('mount', project, drive, '--cache-size=4MiB')
    expect(await done('pin', join(drive, 'contracts'), '--wait')).toMatch(
      /is pinned, 4 documents here \(5\.3 MiB\)/,
    )
    for (let at = 0; at < 4; at++) expect((await inDrive('cat', join(drive, `other/${at}.pdf`))).code).toBe(0)
    await desk.kill(drive)
    await testService.stop()
    await done('mount', project, drive, '--cache-size=4MiB')
    expect((await inDrive('find', join(drive, 'contracts'), '-type', 'f')).stdout.split('\n')).toHaveLength(5)
    for (const [path, content] of pinned) expect(await contentOf(path), path).toBe(content)
    expect(await done('status', drive)).toMatch(/\/contracts {2}pinned, 4 documents here/)
  })

  test('gets what another client changes and adds, by itself', async () => {
    await put('/shared/a.pdf', 1_000)
    await done('mount', project, drive, '--cache-ttl=1s')
    await done('pin', join(drive, 'shared'), '--wait')
    await testService.other.delete('/shared/a.pdf')
    const changed = await put('/shared/a.pdf', 2_000)
    const added = await put('/shared/new/b.pdf', 300_000)
    await waitUntil('it to be here', async () => {
      const [pin] = JSON.parse(await done('pins', '--json')) as { bytes: number; state: string }[]
      return pin?.bytes === 302_000 && pin.state === 'here'
    })
    await desk.kill(drive)
    await testService.stop()
    await done('mount', project, drive)
    expect(await contentOf('/shared/a.pdf')).toBe(changed)
    expect(await contentOf('/shared/new/b.pdf')).toBe(added)
  })

  test('is refused where it does not fit, with what it needs and what is free', async () => {
    await put('/large/a.pdf', 2 * MiB)
    await done('mount', project, drive, '--pin-size=1MiB')
    const refused = await desk.docmount('pin', join(drive, 'large'))
    expect(refused.code).toBe(1)
    expect(refused.stderr).toMatch(
      /large needs 2\.0 MiB on disk \(1 document\); of the 1\.0 MiB for pins 1\.0 MiB are free/,
    )
    expect(await done('pins')).toBe('nothing is pinned\n')
  })

  test('can be let go; the cache is filled, shown and cleared', async () => {
    await put('/a/1.pdf', 200_000)
    await put('/b/2.pdf', 300_000)
    await done('mount', project, drive)
    await done('pin', join(drive, 'a'), '--wait')
    expect(await done('pins', drive)).toMatch(/drive\/a +here +1 of 1 document +195\.3 KiB of 195\.3 KiB/)
    expect(await done('fetch', join(drive, 'b'))).toMatch(/1 document \(293\.0 KiB\), 1 fetched/)
    expect(await done('cache', drive)).toMatch(
      /cached .* 1 document\n {2}pinned .* of 10\.0 GiB {2}1 document/,
    )
    expect(await done('cache', 'clear', drive)).toMatch(/removed 1 document .*; 1 document .* stay/)
    await done('unpin', join(drive, 'a'))
    expect((await desk.docmount('unpin', join(drive, 'a'))).stderr).toMatch(/it is not pinned/)
    await testService.stop()
    expect((await inDrive('cat', join(drive, 'a/1.pdf'))).code).toBe(0)
    expect((await inDrive('cat', join(drive, 'b/2.pdf'))).code).not.toBe(0)
  })
})
