// A service that is away, as the person at the command line meets it; and a daemon that stood still for a while.

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { inDrive, startDesk, type Desk } from '../support/desk.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { project, type TestService } from '../support/service.ts'
import { waitUntil } from '../support/wait-until.ts'

let desk: Desk
let drive: string
let testService: TestService

beforeEach(async () => {
  desk = await startDesk()
  ;({ drive, testService } = desk)
})
afterEach(() => desk.close())

describe.skipIf(whyNoFuse() !== undefined)('a service that is away', () => {
  test('is told of by the mount command, which shows what was known, and by status, with the time here', async () => {
    await testService.other.put('/a.txt', 'a')
    expect((await desk.docmount('mount', project, drive)).code).toBe(0)
    expect((await desk.docmount('unmount', drive)).code).toBe(0)
    await testService.stop()
    const mounted = await desk.docmount('mount', project, drive)
    expect(mounted.stdout).toMatch(
      /is mounted at .*\nthe service is away \(.*\): the drive shows what it last knew/,
    )
    expect((await inDrive('ls', drive)).stdout).toBe('a.txt\n')
    desk.env = { ...desk.env, TZ: 'Asia/Tokyo' }
    const said = (await desk.docmount('status', drive)).stdout
    const since = /service away since (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) \(/.exec(said)?.[1] ?? ''
    expect(Date.now() - Date.parse(`${since}+09:00`), said).toBeLessThan(600_000)
    await testService.start()
    expect((await desk.docmount('retry', drive)).code).toBe(0)
    await waitUntil('it to be back', async () =>
      (await desk.docmount('status', drive)).stdout.includes('service reachable'),
    )
    expect((await desk.docmount('unmount', drive)).code).toBe(0)
  })

  test('a project never mounted cannot be shown without it; --wait waits', async () => {
    await testService.stop()
    const refused = await desk.docmount('mount', project, drive)
    expect(refused.code).toBe(75)
    const short = await desk.docmount('mount', project, drive, '--wait=2s')
    expect(short.code).toBe(75)
    const mounting = desk.docmount('mount', project, drive, '--wait=50s')
    await sleep(2_000)
    await testService.start()
    expect((await mounting).code).toBe(0)
    expect((await desk.docmount('unmount', drive)).code).toBe(0)
  })

  test('a daemon that stood still for longer than every time limit fails nothing', async () => {
    await testService.other.put('/big.pdf', Buffer.alloc(30_000_000, 'x'))
    await testService.other.put('/in/a.txt', 'a')
    expect((await desk.docmount('mount', project, drive, '--cache-ttl=1s')).code).toBe(0)
    const [record] = await desk.living()
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
    expect((await desk.docmount('wait', drive)).code).toBe(0)
    expect((await testService.other.bytes('/new.txt')).toString()).toBe('saved\n')
    expect((await desk.docmount('unmount', drive)).code).toBe(0)
  })
})
