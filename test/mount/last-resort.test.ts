// An error that no code expected, in a callback of the daemon: it is written down, nobody hangs, what was saved is kept, and
// the next mount sends it.

import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { MountRecord } from '../../src/daemon/mount-record.ts'
import { inDrive, startDesk, type Desk } from '../support/desk.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { waitUntil } from '../support/wait-until.ts'

/** Far beyond the test's end. */
const neverMs = 600_000

let desk: Desk
beforeEach(async () => {
  desk = await startDesk()
})
afterEach(() => desk.close())

/** Code added to the daemon's process: SIGUSR2 brings the bug. */
async function plant(line: string): Promise<void> {
  const bug = join(desk.home, 'bug.mjs')
  await writeFile(bug, `process.on('SIGUSR2', () => {\n  ${line}\n})\n`)
  desk.env = { ...desk.env, NODE_OPTIONS: `--import=${bug}` }
}

/** A desktop that writes down what it is told, and answers how that is read. */
async function startDesktop(): Promise<() => Promise<string>> {
  const programs = join(desk.home, 'bin')
  const said = join(desk.home, 'said')
  await mkdir(programs)
  await writeFile(join(programs, 'notify-send'), `#!/bin/sh\nprintf '%s\\n' "$@" >>"${said}"\n`)
  await chmod(join(programs, 'notify-send'), 0o755)
  const path = `${programs}${delimiter}${desk.env['PATH']}`
  desk.env = { ...desk.env, PATH: path, DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere' }
  return () => readFile(said, 'utf8').catch(() => '')
}

async function daemonOf(mountpoint: string): Promise<MountRecord> {
  const record = (await desk.living()).find((each) => each.mountpoint === mountpoint)
  if (record === undefined) throw new Error(`no drive at ${mountpoint}`)
  return record
}

/** Resolves when the daemon has ended and its mount is gone. */
async function bringTheBug({ pid, mountpoint }: MountRecord): Promise<void> {
  process.kill(pid, 'SIGUSR2')
  await waitUntil('the daemon to end', async () => (await desk.living()).length === 0)
  await waitUntil(
    'the mount to go',
    async () => !(await readFile('/proc/self/mounts', 'utf8')).includes(` ${mountpoint} `),
  )
}

describe.skipIf(whyNoFuse() !== undefined)('a bug in the daemon', () => {
  test.each([
    ['thrown', "throw new Error('nobody expected this')"],
    ['a promise that nobody catches', "void Promise.reject(new Error('nobody expected this'))"],
  ])(
    '(%s) is written down, the drive is gone and not stuck, and what was saved is named, kept and sent after the next mount',
    async (_how, line) => {
      await plant(line)
      const said = await startDesktop()
      await desk.testService.other.put('/slow/b.txt', 'b')
      const drive = await desk.mount('drive', '--close-wait', '0')
      const { faults } = desk.testService.service
      faults.inject({ kind: 'latency', ms: neverMs }, { endpoint: 'files', method: 'PUT' })
      faults.inject({ kind: 'latency', ms: neverMs }, { endpoint: 'files', method: 'GET', path: '/slow' })
      await desk.save(join(drive, 'a.txt'), 'kept')
      const waiting = inDrive('ls', join(drive, 'slow'))
      await waitUntil('the question', () =>
        desk.testService.service.calls.some(({ method, path }) => method === 'GET' && path === '/slow'),
      )
      const record = await daemonOf(drive)
      await bringTheBug(record)

      expect((await waiting).code, 'ls, which was waiting').toBe(2)
      const log = await readFile(record.logFile ?? '', 'utf8')
      expect(log).toContain('a bug ended the daemon')
      expect(log).toContain('nobody expected this')
      const drives = JSON.parse((await desk.docmount('status', '--json')).stdout) as { mountpoint?: string }[]
      const dead = drives.find(({ mountpoint }) => mountpoint === drive)
      expect(dead).toMatchObject({ state: 'dead', problem: expect.stringContaining('its state is kept') })
      expect(JSON.stringify(dead)).toContain('"path":"/a.txt"')
      await waitUntil('the desktop to hear of it', async () =>
        /A fault of docmount ended the drive/.test(await said()),
      )

      faults.clear()
      await desk.mount('drive')
      expect((await desk.docmount('wait', drive)).code).toBe(0)
      expect((await desk.testService.other.bytes('/a.txt')).toString()).toBe('kept')
    },
  )

  test('leaves no secret in the log, whatever its error carries', async () => {
    // As fetch throws it: the whole URL is a field of the error, and not of its message.
    await plant("throw Object.assign(new TypeError('Invalid URL'), { input: 'https://files.example/a?signature=s3cr3t' })") // prettier-ignore
    const drive = await desk.mount('drive')
    const record = await daemonOf(drive)
    await bringTheBug(record)
    const log = await readFile(record.logFile ?? '', 'utf8')
    expect(log).toContain('Invalid URL')
    expect(log).not.toContain('s3cr3t')
  })
})
