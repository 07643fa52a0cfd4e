// The kernel driver and the filesystem together: Ctrl-C that reaches the HTTP call, and a copy that moves no bytes.
// docmount in a process of its own, a gate between it and the service.

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { whyNoFuse } from '../support/fuse.ts'
import { startGate, type Gate, type GateRequest } from '../support/gate.ts'
import { within } from '../support/memory-mount.ts'
import { mountDrive, type MountedDrive } from '../support/mounted.ts'
import { run } from '../support/run.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { waitUntil } from '../support/wait-until.ts'

const why = whyNoFuse()

describe.skipIf(why !== undefined)(`a drive${why === undefined ? '' : ` (${why})`}`, () => {
  let temporary: TemporaryFolder
  let testService: TestService
  let gate: Gate
  let drive: MountedDrive | undefined
  let requests: GateRequest[]
  let programs: ChildProcess[]

  beforeEach(async () => {
    programs = []
    requests = []
    temporary = await makeTemporaryFolder()
    testService = await startTestService()
    gate = await startGate(() => Number(new URL(testService.baseUrl).port))
  })

  afterEach(async () => {
    for (const program of programs) program.kill('SIGKILL')
    gate.decide = () => 'pass'
    gate.release()
    try {
      await drive?.unmount()
    } finally {
      drive = undefined
      await gate[Symbol.asyncDispose]()
      await testService.close()
      await temporary.remove()
    }
  })

  /** Close waits for the service as long as it takes: what ends before was interrupted. */
  async function mount(): Promise<string> {
    gate.decide = (request) => {
      requests.push(request)
      return 'pass'
    }
    const throughGate: TestService = { ...testService, baseUrl: gate.baseUrl }
    const args = ['--close-wait', 'forever']
    drive = await mountDrive({ testService: throughGate, driver: 'kernel', folder: temporary.path, args })
    return drive.mountpoint
  }

  function keep(isKept: (request: GateRequest) => boolean): void {
    gate.decide = (request) => (isKept(request) ? 'keep' : 'pass')
  }

  /** Runs the program until the service is kept from it, then sends SIGINT; resolves when it is gone. */
  async function interrupt(program: string, ...args: string[]): Promise<void> {
    const child = spawn(program, args, { cwd: '/', stdio: 'ignore' })
    programs.push(child)
    const ended = once(child, 'exit')
    await waitUntil('a kept request', () => gate.kept > 0)
    child.kill('SIGINT')
    await within(10_000, `the end of ${program}`, ended)
  }

  test('Ctrl-C on a hung ls ends it; the call goes on for whoever asks next', async () => {
    await testService.other.put('/inner/a.txt', 'a')
    const root = await mount()
    keep(({ path }) => path.startsWith('/inner'))
    await interrupt('ls', join(root, 'inner'))
    expect(gate.kept).toBe(1)
    gate.decide = () => 'pass'
    gate.release()
    expect((await run('ls', [join(root, 'inner')])).stdout).toBe('a.txt\n')
  })

  test('Ctrl-C on a hung read ends it and its download', async () => {
    await testService.other.put('/a.pdf', Buffer.alloc(300_000, 'content'))
    const root = await mount()
    await run('ls', [root])
    keep(({ path }) => path.includes('/download/'))
    await interrupt('dd', `if=${join(root, 'a.pdf')}`, 'of=/dev/null', 'bs=4096', 'iflag=direct')
    // Sooner than the client would give up by itself.
    await waitUntil('the download to be given up', () => gate.kept === 0, 5000)
  })

  test('Ctrl-C on a hung cat ends it, and the next one reads', async () => {
    await testService.other.put('/a.pdf', Buffer.alloc(300_000, 'content'))
    const root = await mount()
    await run('ls', [root])
    keep(({ path }) => path.includes('/download/'))
    await interrupt('cat', join(root, 'a.pdf'))
    gate.decide = () => 'pass'
    gate.release()
    expect((await run('sh', ['-c', 'wc -c < "$1"', 'sh', join(root, 'a.pdf')])).stdout).toBe('300000\n')
  })

  test('Ctrl-C on a hung save ends the program and not the upload', async () => {
    const root = await mount()
    const source = join(temporary.path, 'source.txt')
    await writeFile(source, 'saved nevertheless')
    keep(({ method }) => method === 'PUT')
    await interrupt('cp', source, join(root, 'a.txt'))
    expect(gate.kept).toBe(1)
    gate.decide = () => 'pass'
    gate.release()
    await waitUntil('the document', async () => {
      const documents = await testService.other.documents('')
      return documents?.get('a.txt')?.toString() === 'saved nevertheless'
    })
  })

  test('a program that starts another one while it writes a document', async () => {
    drive = await mountDrive({
      testService,
      driver: 'kernel',
      folder: temporary.path,
      hasDefaultCloseWait: true,
    })
    // Its file is closed a second time on the way into the new one, by exec itself.
    const program = `
      const fs = require('node:fs')
      const file = fs.openSync(process.argv[1], 'w')
      fs.writeSync(file, 'before ')
      require('node:child_process').execFileSync('true')
      fs.writeSync(file, 'and after')
      fs.closeSync(file)`
    const child = spawn('node', ['-e', program, join(drive.mountpoint, 'a.txt')], {
      cwd: '/',
      stdio: 'ignore',
    })
    programs.push(child)
    try {
      expect(await within(20_000, 'the end of the program', once(child, 'exit'))).toEqual([0, null])
    } catch (error) {
      process.kill(drive.pid, 'SIGKILL')
      throw error
    }
    expect((await testService.other.bytes('/a.txt')).toString()).toBe('before and after')
  })

  test('cp of a whole document is done by the service: no bytes move', async () => {
    const content = Buffer.alloc(3_000_000, 'a page of text ')
    await testService.other.put('/a.pdf', content)
    const root = await mount()
    await run('cp', [join(root, 'a.pdf'), join(root, 'b.pdf')])
    expect((await testService.other.bytes('/b.pdf')).equals(content)).toBe(true)
    const puts = requests.filter(({ method }) => method === 'PUT')
    expect(puts.map(({ path }) => path)).toEqual(['/b.pdf'])
    expect(puts[0]?.bodyBytes).toBeLessThan(2000)
  })
})
