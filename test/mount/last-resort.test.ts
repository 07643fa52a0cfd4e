// An error that no code expected, in a callback of the daemon: it is written down, nobody hangs, and what was saved is kept.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startDesk, type Desk } from '../support/desk.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { waitUntil } from '../support/wait-until.ts'

let desk: Desk
beforeEach(async () => {
  desk = await startDesk()
})
afterEach(() => desk.close())

describe.skipIf(whyNoFuse() !== undefined)('a bug in the daemon', () => {
  test('is written down, the drive is gone and not stuck, and what was saved is named and kept', async () => {
    const bug = join(desk.home, 'bug.mjs')
    await writeFile(bug, "process.on('SIGUSR2', () => {\n  throw new Error('nobody expected this')\n})\n")
    desk.env = { ...desk.env, NODE_OPTIONS: `--import=${bug}` }
    const drive = await desk.mount('drive', '--close-wait', '0')
    await desk.testService.stop()
    await desk.save(join(drive, 'a.txt'), 'kept')
    const [record] = await desk.living()
    if (record?.logFile === undefined) throw new Error('the drive has no log')
    process.kill(record.pid, 'SIGUSR2')
    await waitUntil('the daemon to end', async () => (await desk.living()).length === 0)
    await waitUntil(
      'the mount to go',
      async () => !(await readFile('/proc/self/mounts', 'utf8')).includes(` ${drive} `),
    )
    const log = await readFile(record.logFile, 'utf8')
    expect(log).toContain('a bug ended the daemon')
    expect(log).toContain('nobody expected this')
    const drives = JSON.parse((await desk.docmount('status', '--json')).stdout) as { mountpoint?: string }[]
    const dead = drives.find(({ mountpoint }) => mountpoint === drive)
    expect(dead).toMatchObject({ state: 'dead', problem: expect.stringContaining('its state is kept') })
    expect(JSON.stringify(dead)).toContain('"path":"/a.txt"')
  })
})
