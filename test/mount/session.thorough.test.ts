// A drive's life as the person at the command line sees it: start, busy, unsent, signals, crash.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { lockStateFolder } from '../../src/content/spool/state-lock.ts'
import type { MountRecord } from '../../src/daemon/mount-record.ts'
import { systemDisk } from '../../src/world/disk.ts'
import { cli } from '../support/cli.ts'
import { inDrive, occupy, startDesk, type Desk } from '../support/desk.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { mountForOthers } from '../support/passed-mount.ts'
import { bash, run } from '../support/run.ts'
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

async function isMounted(): Promise<boolean> {
  return (await readFile('/proc/self/mounts', 'utf8')).includes(` ${drive} `)
}

async function mountDrive(...args: readonly string[]): Promise<MountRecord> {
  const { code, stderr } = await desk.docmount('mount', '--quiet', project, drive, ...args)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const [record] = await desk.records()
  if (record === undefined) throw new Error('no record was written')
  return record
}

/** Saves a document while the service is away: it stays unsent. */
async function saveUnsent(name: string): Promise<void> {
  await testService.stop()
  await run('timeout', ['200', 'sh', '-c', 'echo unsent > "$1"', 'sh', join(drive, name)])
}

describe.skipIf(whyNoFuse() !== undefined)('a drive', () => {
  test('is live when mount returns, and gone without a trace when unmount does', async () => {
    const { pid } = await mountDrive()
    expect(await isMounted()).toBe(true)
    expect(await desk.docmount('unmount', drive)).toMatchObject({ code: 0, stdout: '', stderr: '' })
    expect(await isMounted()).toBe(false)
    expect(await desk.records()).toEqual([])
    await waitUntil('the daemon to end', async () => !(await exists(`/proc/${pid}`)))
  })

  test('with a state folder elsewhere leaves no record, even if the file that leads there cannot be removed', async () => {
    const { id } = await mountDrive('--state-dir', join(desk.home, 'elsewhere'))
    const pointer = join(desk.home, '.local/state/docmount', `${id}.drive.json`)
    await rm(pointer)
    await mkdir(pointer)
    expect(await desk.docmount('unmount', drive)).toMatchObject({ code: 0, stderr: '' })
    await waitUntil('the record to go', async () => (await desk.records()).length === 0)
  })

  test('at the default place makes its folder, and takes it back when the start fails', async () => {
    desk.env = { ...desk.env, HOME: join(desk.home, 'home') }
    await mkdir(join(desk.home, 'home'))
    drive = join(desk.home, 'home', project)
    expect((await desk.docmount('mount', project)).stdout).toBe(`${project} is mounted at ${drive}\n`)
    expect((await desk.docmount('unmount', drive)).code).toBe(0)
    const { code, stderr } = await desk.docmount('mount', '--quiet', 'nosuch')
    expect(stderr).toMatch(/^docmount: the project "nosuch" cannot be read .*the key sees: acme\n$/)
    expect(code).toBe(1)
    expect(await exists(join(desk.home, 'home', 'nosuch'))).toBe(false)
  })

  test('started twice at once: the one that is refused leaves the folder to the other', async () => {
    desk.env = { ...desk.env, HOME: join(desk.home, 'home') }
    const stateDir = join(desk.home, 'home', 'state')
    const other = lockStateFolder(stateDir, systemDisk)
    const { code, stderr } = await desk.docmount('mount', '--quiet', project, '--state-dir', stateDir)
    other.close()
    expect(stderr).toContain('another docmount uses the state folder')
    expect(code).toBe(1)
    expect(await exists(join(desk.home, 'home', project))).toBe(true)
  })

  test('with a wrong key is refused in one line that keeps the key to itself', async () => {
    desk.env = { ...desk.env, DOCMOUNT_API_KEY: 'dmk_WRONG' }
    const { code, stderr } = await desk.docmount('mount', '--quiet', project, drive)
    expect(stderr).toMatch(/^docmount: the service at .* does not accept the API key \(401 .*\n$/)
    expect(stderr).not.toContain('WRONG')
    expect(code).toBe(1)
  })

  test('keeps the key from the programs it starts, and opens no port to a debugger', async () => {
    const { pid } = await mountDrive()
    const { stdout } = await run('pgrep', ['-P', String(pid)])
    const children = stdout.trim().split('\n')
    expect(children).not.toHaveLength(0)
    for (const child of children)
      expect(await readFile(`/proc/${child}/environ`, 'utf8')).not.toMatch(/DOCMOUNT_API_KEY=|dmk_/)
    process.kill(pid, 'SIGUSR1')
    expect((await desk.docmount('status', drive)).code).toBe(0)
    expect((await run('ss', ['-ltnp'])).stdout).not.toContain(`pid=${pid},`)
  })

  test('is mounted once: the second mount says where, and the daemon stays the first', async () => {
    const { pid } = await mountDrive()
    const { code, stdout } = await desk.docmount('mount', project, drive)
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${project} is mounted at ${drive} already\n` })
    expect((await desk.living()).map((record) => record.pid)).toEqual([pid])
  })

  test('in use is not unmounted, the user is named, and the drive stays', async () => {
    await mountDrive()
    const occupant = await occupy(drive)
    try {
      const { code, stderr } = await desk.docmount('unmount', drive, '--timeout', '1s')
      expect(stderr).toMatch(/in use by sleep \(process \d+\)/)
      expect(code).toBe(1)
      const { stdout } = await desk.docmount('status', drive, '--json')
      expect(JSON.parse(stdout)).toMatchObject({ state: 'live', mountpoint: drive })
    } finally {
      await occupant.leave()
    }
    expect((await desk.docmount('unmount', drive)).code).toBe(0)
  })

  test('in use by the shell it is asked from names the shell once, and not the command itself', async () => {
    await mountDrive()
    const line = 'cd "$1" && "$2" "$3" unmount "$1" --timeout 3s; code=$?; exit $code'
    const { stderr, code } = await bash(line, [drive, process.execPath, cli], {
      env: desk.env,
      mayFail: true,
    })
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^in use by bash \(process \d+\); waiting \(--force detaches\)\ndocmount: .* is in use by bash \(process \d+\); close it/,
    )
    expect((await desk.docmount('unmount', drive)).code).toBe(0)
  })

  test('in use is detached by --force, and its daemon ends with its last user', async () => {
    const { pid } = await mountDrive()
    const occupant = await occupy(drive)
    try {
      expect((await desk.docmount('unmount', drive, '--force')).stderr).toMatch(/is detached/)
      expect(await isMounted()).toBe(false)
      expect(await exists(`/proc/${pid}`)).toBe(true)
    } finally {
      await occupant.leave()
    }
    await waitUntil('the daemon to end', async () => !(await exists(`/proc/${pid}`)))
  })

  test('detached by somebody else, and in use, is told so by status, and let go by unmount', async () => {
    const { pid } = await mountDrive()
    const occupant = await occupy(drive)
    try {
      await run('umount', ['-l', drive])
      expect((await desk.docmount('status')).stdout).toMatch(/  detached\n/)
      expect((await desk.docmount('unmount', drive)).stderr).toMatch(/is detached/)
      expect(await exists(`/proc/${pid}`)).toBe(true)
    } finally {
      await occupant.leave()
    }
    await waitUntil('the daemon to end', async () => !(await exists(`/proc/${pid}`)))
  })

  test('mounted over the folder one stands in is unmounted from there', async () => {
    const line = 'cd "$1" && "$2" "$3" mount "$4" "$1" && "$2" "$3" unmount "$1"'
    const args = ['-c', line, 'sh', drive, process.execPath, cli, project]
    expect(await run('sh', args, { env: desk.env, mayFail: true })).toMatchObject({ code: 0, stderr: '' })
    expect(await isMounted()).toBe(false)
  })

  test('whose daemon stands still says so, and how to go on', async () => {
    const { pid } = await mountDrive()
    process.kill(pid, 'SIGSTOP')
    try {
      const status = await desk.docmount('status', drive)
      expect(`${status.stdout}${status.stderr}`).toMatch(/does not answer[^]*kill -9 \d+/)
      const refresh = spawn(process.execPath, [cli, 'refresh', drive], { env: desk.env })
      const [said] = (await once(refresh.stderr, 'data')) as [Buffer]
      expect(said.toString()).toMatch(/does not answer[^]*kill -9 \d+/)
      refresh.kill('SIGKILL')
      await once(refresh, 'exit')
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    expect((await desk.docmount('unmount', drive)).code).toBe(0)
  })

  test('stays when the wish to unmount is taken back', async () => {
    await mountDrive()
    const occupant = await occupy(drive)
    try {
      const child = spawn(process.execPath, [cli, 'unmount', drive], {
        env: desk.env,
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      let said = ''
      child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
      await once(child.stderr, 'data')
      child.kill('SIGINT')
      await once(child, 'close')
      expect(said).toContain('interrupted: the drive stays mounted')
      await waitUntil('the drive to be live again', async () => {
        const { stdout } = await desk.docmount('status', drive, '--json')
        return (JSON.parse(stdout) as { state: string }).state === 'live'
      })
    } finally {
      await occupant.leave()
    }
  })

  test('with unsent work says what and where, and sends it after the next mount', async () => {
    await mountDrive('--close-wait', '0')
    await saveUnsent('a.txt')
    expect(await desk.docmount('wait', join(drive, 'a.txt'), '--timeout', '100ms')).toMatchObject({
      code: 75,
    })
    const { code, stderr } = await desk.docmount('unmount', drive, '--timeout', '100ms')
    expect(code).toBe(1)
    expect(stderr).toMatch(/1 change is not sent/)
    const spool = /content: (.*)/.exec(stderr)?.[1] ?? ''
    expect(await readFile(spool, 'utf8')).toBe('unsent\n')
    await testService.start()
    await mountDrive()
    expect((await desk.docmount('wait', drive, '--timeout', '20s')).code).toBe(0)
    expect((await testService.other.bytes('/a.txt')).toString()).toBe('unsent\n')
  })

  test('that ended tells of no next try, since nobody tries before the next mount', async () => {
    await mountDrive('--close-wait', '0')
    testService.service.faults.inject({ kind: 'status', status: 500 }, { method: 'PUT' })
    await desk.save(join(drive, 'a.txt'), 'unsent\n')
    await waitUntil('it to be tried again', async () =>
      / retrying .*; next try /.test((await desk.docmount('status', drive)).stdout),
    )
    const { stderr } = await desk.docmount('unmount', drive, '--timeout', '100ms')
    const { stdout } = await desk.docmount('status', drive)
    for (const said of [stderr, stdout])
      expect(said).toMatch(/\/a\.txt {2}upload {2}pending {2}7 bytes {2}\(PUT \/a\.txt: 500[^;]*\)$/m)
  })

  test('with a backup that stays here names it to who waits for all to be sent', async () => {
    await mountDrive()
    for (const name of ['report.txt', 'report.txt~', '.report.txt.swp', 'a.txt', 'minutes.draft'])
      expect((await desk.save(join(drive, name), 'here')).code).toBe(0)
    const said =
      'docmount: everything is sent, except 1 temporary file on this machine only:\n' +
      '  /report.txt~  4 bytes  a backup of report.txt\n'
    expect(await desk.docmount('wait', drive)).toMatchObject({ code: 0, stderr: said })
    expect(await desk.docmount('wait', join(drive, 'report.txt~'))).toMatchObject({ code: 0, stderr: said })
    for (const args of [[join(drive, 'a.txt')], [drive, '--quiet']])
      expect(await desk.docmount('wait', ...args)).toMatchObject({ code: 0, stderr: '' })
  })

  test('with something refused says that the next mount does not send it, and it does not', async () => {
    await mountDrive()
    const refusal = testService.service.faults.inject({ kind: 'status', status: 413 }, { method: 'PUT' })
    await desk.save(join(drive, 'a.txt'), 'refused\n')
    const { code, stderr } = await desk.docmount('unmount', drive)
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/1 change is refused; .* only if you ask for it/),
    ])
    expect(stderr).not.toContain('sent after')
    refusal()
    await mountDrive()
    expect((await desk.docmount('wait', drive)).code).toBe(1)
    expect((await desk.docmount('retry', drive)).code).toBe(0)
    expect((await desk.docmount('wait', drive, '--timeout', '20s')).code).toBe(0)
    expect((await testService.other.bytes('/a.txt')).toString()).toBe('refused\n')
  })

  test('whose runtime folder was taken away, as with the last session of a user, is found again', async () => {
    const { pid } = await mountDrive()
    await rm(join(desk.home, 'run', 'docmount'), { recursive: true })
    await waitUntil('it to be found', async () => (await desk.living()).length > 0, 30_000)
    const { stdout } = await desk.docmount('status', drive, '--json')
    expect(JSON.parse(stdout)).toMatchObject({ state: 'live', pid })
    expect(await desk.docmount('unmount', drive)).toMatchObject({ code: 0, stderr: '' })
    await waitUntil('the daemon to end', async () => !(await exists(`/proc/${pid}`)))
    expect(await desk.records()).toEqual([])
  })

  test('whose program was replaced under it, as by an upgrade, works on and ends in order', async () => {
    const old = join(desk.home, 'old')
    await mkdir(old)
    const root = join(dirname(cli), '../..')
    await run('cp', ['-r', join(root, 'dist'), join(root, 'package.json'), old])
    await symlink(join(root, 'node_modules'), join(old, 'node_modules'))
    const args = [join(old, 'dist/cli/main.js'), 'mount', '--quiet', project, drive]
    await run(process.execPath, args, { env: desk.env })
    const [record] = await desk.records()
    await rm(old, { recursive: true })
    const { stdout } = await inDrive('sh', '-c', 'cd "$1"; echo kept > a; cat a; ls; rm a', 'sh', drive)
    expect(stdout).toBe('kept\na\n')
    expect(await desk.docmount('unmount', drive)).toMatchObject({ code: 0, stdout: '', stderr: '' })
    await waitUntil('the daemon to end', async () => !(await exists(`/proc/${record?.pid}`)))
    expect(await desk.records()).toEqual([])
  })

  test('whose daemon was killed is cleared away by unmount, which names what the journal holds', async () => {
    const { pid } = await mountDrive('--close-wait', '0')
    await saveUnsent('a.txt')
    process.kill(pid, 'SIGKILL')
    await waitUntil('the daemon to end', async () => !(await exists(`/proc/${pid}`)))
    const { code, stderr } = await desk.docmount('unmount', drive)
    expect(stderr).toMatch(/was gone[^]*1 change is not sent[^]*\/a\.txt/)
    expect(code).toBe(1)
    expect(await isMounted()).toBe(false)
  })

  test('whose daemon was killed is mounted anew and loses nothing', async () => {
    const { pid } = await mountDrive('--close-wait', '0')
    await saveUnsent('a.txt')
    process.kill(pid, 'SIGKILL')
    await testService.start()
    await waitUntil('the daemon to end', async () => !(await exists(`/proc/${pid}`)))
    await mountDrive()
    expect((await desk.docmount('wait', drive, '--timeout', '20s')).code).toBe(0)
    expect((await testService.other.bytes('/a.txt')).toString()).toBe('unsent\n')
  })

  test('ends also where the signal reaches the programs that unmount it, as systemd sends it', async () => {
    const programs = join(desk.home, 'programs')
    await mkdir(programs)
    for (const name of ['umount', 'fusermount3']) {
      const path = (await run('sh', ['-c', `command -v ${name}`])).stdout.trim()
      const script = `#!/bin/sh
echo try >>${programs}/tries
[ "$(wc -l <${programs}/tries)" -gt 2 ] || kill -TERM $$
exec ${path} "$@"
`
      await writeFile(join(programs, name), script, { mode: 0o755 })
    }
    desk.env = { ...desk.env, PATH: `${programs}:${process.env['PATH']}` }
    const { pid } = await mountDrive()
    process.kill(pid, 'SIGTERM')
    await waitUntil('the daemon to end', async () => !(await exists(`/proc/${pid}`)))
    expect(await isMounted()).toBe(false)
    expect(await readFile(join(programs, 'tries'), 'utf8')).toBe('try\n'.repeat(3))
  })

  test('unmounted by somebody else goes on sending, and yields to the next mount', async () => {
    const { pid } = await mountDrive('--close-wait', '0')
    await saveUnsent('a.txt')
    await run('umount', [drive])
    expect((await desk.docmount('status', drive, '--json')).stdout).toMatch(/"state": "draining"/)
    await testService.start()
    const next = await mountDrive()
    expect(next.pid).not.toBe(pid)
    expect((await desk.docmount('wait', drive, '--timeout', '20s')).code).toBe(0)
    expect((await testService.other.bytes('/a.txt')).toString()).toBe('unsent\n')
  })

  test.skipIf(process.getuid?.() !== 0)(
    'mounted by somebody else, who passed its descriptor, goes by the name of its folder',
    async () => {
      const passed = await mountForOthers(drive)
      const starter = spawn(process.execPath, [cli, 'mount', project, '/dev/fd/3'], {
        env: desk.env,
        cwd: '/',
        stdio: ['ignore', 'pipe', 'pipe', passed.fd],
      })
      let said = ''
      for (const stream of [starter.stdout, starter.stderr]) {
        stream?.on('data', (chunk: Buffer) => (said += chunk.toString()))
      }
      const [code] = (await once(starter, 'close')) as [number | null]
      passed.close()
      expect({ code, said }).toEqual({ code: 0, said: `${project} is mounted at ${drive}\n` })
      await run('timeout', ['200', 'sh', '-c', 'echo passed > "$1"', 'sh', join(drive, 'a.txt')])
      const documents = await testService.other.documents('')
      expect(documents?.get('a.txt')?.toString()).toBe('passed\n')
      expect(JSON.parse((await desk.docmount('status', drive, '--json')).stdout)).toMatchObject({
        mountpoint: drive,
        state: 'live',
      })
      expect(await desk.docmount('unmount', drive)).toEqual({ code: 0, stdout: '', stderr: '' })
      expect(await isMounted()).toBe(false)
    },
  )

  test('in the foreground ends by a signal; a second one stops sending and keeps what is unsent', async () => {
    const child = spawn(
      process.execPath,
      [cli, 'mount', project, drive, '--foreground', '--close-wait', '0'],
      { env: desk.env, stdio: ['ignore', 'pipe', 'pipe'] },
    )
    let said = ''
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
    await once(child.stdout, 'data')
    await saveUnsent('a.txt')
    child.kill('SIGTERM')
    await waitUntil('draining to begin', () => said.includes('"state":"draining"'))
    child.kill('SIGTERM')
    const [code] = (await once(child, 'exit')) as [number | null]
    expect(said).toMatch(/1 change is not sent/)
    expect(code).toBe(3)
    expect(await isMounted()).toBe(false)
    expect(said).not.toContain(testService.apiKey)
  })

  test('logs no key and no signature, and keeps the key out of its arguments', async () => {
    await testService.other.put('/x.txt', Buffer.from('x'))
    const { pid, logFile = '' } = await mountDrive('-v')
    await run('timeout', ['200', 'cat', join(drive, 'x.txt')])
    expect(await readFile(`/proc/${pid}/cmdline`, 'utf8')).not.toContain(testService.apiKey)
    const log = await readFile(logFile, 'utf8')
    expect(log).toContain('"msg":"live"')
    expect(log).not.toContain(testService.apiKey)
    expect(log).not.toMatch(/\?(?!\[redacted\])[^"]*(signature|sig)=/)
  })
})

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
