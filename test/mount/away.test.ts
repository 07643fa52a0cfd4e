// A service that is away, as the person at the command line meets it; and a daemon that stood still for a while.

import { mkdir, readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { isAlive, type MountRecord } from '../../src/daemon/mount-record.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { run, type Ran } from '../support/run.ts'
import { project, startTestService, type TestService } from '../support/service.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { waitUntil } from '../support/wait-until.ts'

const cli = new URL('../../dist/cli/main.js', import.meta.url).pathname

let temporary: TemporaryFolder
let testService: TestService
let drive: string
let env: NodeJS.ProcessEnv

beforeEach(async () => {
  temporary = await makeTemporaryFolder()
  testService = await startTestService()
  drive = join(temporary.path, 'drive')
  await mkdir(drive)
  await mkdir(join(temporary.path, 'run'))
  env = {
    PATH: process.env['PATH'],
    HOME: temporary.path,
    XDG_RUNTIME_DIR: join(temporary.path, 'run'),
    DOCMOUNT_BASE_URL: testService.baseUrl,
    DOCMOUNT_API_KEY: testService.apiKey,
  }
})

afterEach(async () => {
  for (const { pid } of await living()) {
    process.kill(pid, 'SIGCONT')
    process.kill(pid, 'SIGKILL')
  }
  await run('umount', ['-l', drive], { mayFail: true })
  await testService.close()
  await temporary.remove()
})

function docmount(...args: readonly string[]): Promise<Ran> {
  return run(process.execPath, [cli, ...args], { env, mayFail: true, limitMs: 60_000 })
}

async function living(): Promise<readonly MountRecord[]> {
  const folder = join(temporary.path, 'run', 'docmount')
  const found: MountRecord[] = []
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.endsWith('.json')) continue
    const record = JSON.parse(await readFile(join(folder, name), 'utf8')) as MountRecord
    if (await isAlive(record)) found.push(record)
  }
  return found
}

/** By a process of its own, so that a drive that hangs does not hang the test. */
const inDrive = (...command: [string, ...string[]]): Promise<Ran> =>
  run('timeout', ['60', ...command], { mayFail: true, limitMs: 70_000 })

describe.skipIf(whyNoFuse() !== undefined)('a service that is away', () => {
  test('is told of by the mount command, which shows what was known', async () => {
    await testService.other.put('/a.txt', 'a')
    expect((await docmount('mount', project, drive)).code).toBe(0)
    expect((await docmount('unmount', drive)).code).toBe(0)
    await testService.stop()
    const mounted = await docmount('mount', project, drive)
    expect(mounted.stdout).toMatch(
      /is mounted at .*\nthe service is away \(.*\): the drive shows what it last knew/,
    )
    expect((await inDrive('ls', drive)).stdout).toBe('a.txt\n')
    expect((await docmount('status', drive)).stdout).toMatch(/service away since/)
    await testService.start()
    expect((await docmount('retry', drive)).code).toBe(0)
    await waitUntil('it to be back', async () =>
      (await docmount('status', drive)).stdout.includes('service reachable'),
    )
    expect((await docmount('unmount', drive)).code).toBe(0)
  })

  test('a project never mounted cannot be shown without it; --wait waits', async () => {
    await testService.stop()
    const refused = await docmount('mount', project, drive)
    expect(refused.code).toBe(75)
    const short = await docmount('mount', project, drive, '--wait=2s')
    expect(short.code).toBe(75)
    const mounting = docmount('mount', project, drive, '--wait=50s')
    await sleep(2_000)
    await testService.start()
    expect((await mounting).code).toBe(0)
    expect((await docmount('unmount', drive)).code).toBe(0)
  })

  test('a daemon that stood still for longer than every time limit fails nothing', async () => {
    await testService.other.put('/big.pdf', Buffer.alloc(30_000_000, 'x'))
    await testService.other.put('/in/a.txt', 'a')
    expect((await docmount('mount', project, drive, '--cache-ttl=1s')).code).toBe(0)
    const [record] = await living()
    if (record === undefined) throw new Error('no daemon')
    // A listing, a read and a save under way; each slow enough to be caught.
    testService.service.faults.inject({ kind: 'latency', ms: 1_500 }, { endpoint: 'files' })
    testService.service.faults.inject(
      { kind: 'slow-drip', bytesPerSecond: 8_000_000 },
      { endpoint: 'download' },
    )
    const listing = inDrive('ls', join(drive, 'in'))
    const reading = inDrive('md5sum', join(drive, 'big.pdf'))
    const saving = inDrive('sh', '-c', `echo saved >'${drive}/new.txt'`)
    await sleep(1_000)
    process.kill(record.pid, 'SIGSTOP')
    await sleep(20_000)
    testService.service.faults.clear()
    process.kill(record.pid, 'SIGCONT')
    expect(await listing).toMatchObject({ code: 0, stdout: 'a.txt\n' })
    expect((await reading).code).toBe(0)
    expect((await saving).code).toBe(0)
    expect((await docmount('wait', drive)).code).toBe(0)
    expect((await testService.other.bytes('/new.txt')).toString()).toBe('saved\n')
    expect((await docmount('unmount', drive)).code).toBe(0)
  }, 120_000)
})
