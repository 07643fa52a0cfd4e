// Statements of `docmount status` about a drive and about one document are true.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { cli } from '../support/cli.ts'
import type { MountStatus } from '../../src/daemon/control-protocol.ts'
import type { Place } from '../../src/fs/status.ts'
import { occupy, startDesk, type Desk } from '../support/desk.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { makeOrdinaryUser } from '../support/ordinary-user.ts'
import { run } from '../support/run.ts'
import { project } from '../support/service.ts'
import { waitUntil } from '../support/wait-until.ts'

let desk: Desk
beforeEach(async () => {
  desk = await startDesk()
})
afterEach(() => desk.close())

async function statusOf(path: string): Promise<MountStatus & { readonly place?: Place }> {
  return JSON.parse((await desk.docmount('status', path, '--json')).stdout) as MountStatus
}

/** The words behind the path. */
async function words(path: string): Promise<string> {
  const { stdout } = await desk.docmount('status', path)
  return stdout.replace(/^\S+ {2}/, '').trim()
}

describe.skipIf(whyNoFuse() !== undefined)('status of one document says that it is', () => {
  test('with the service since when, with how many bytes', async () => {
    const drive = await desk.mount('drive')
    await desk.save(join(drive, 'a.txt'), 'four')
    expect(await words(join(drive, 'a.txt'))).toMatch(
      /^with the service since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \(4 bytes\)$/,
    )
  })

  test('not there, or a folder, also where nobody has looked before', async () => {
    await desk.testService.other.put('/folder/a.txt', 'a')
    const drive = await desk.mount('drive')
    expect(await words(join(drive, 'folder/none.txt'))).toBe('not there')
    expect(await words(join(drive, 'nowhere/none.txt'))).toBe('not there')
    expect(await words(join(drive, 'folder'))).toBe('a folder')
    expect(await words(join(drive, 'folder/a.txt'))).toMatch(/^with the service since/)
  })

  test('not there: refresh says so, too, also of what another client has just deleted', async () => {
    await desk.testService.other.put('/folder/a.txt', 'a')
    const drive = await desk.mount('drive')
    for (const path of ['folder/a.txt', 'folder', '.'])
      expect(await desk.docmount('refresh', join(drive, path))).toMatchObject({ code: 0, stderr: '' })
    await desk.testService.other.delete('/folder/a.txt')
    for (const path of ['folder/a.txt', 'folder/none.txt', 'nowhere/none.txt'])
      expect(await desk.docmount('refresh', join(drive, path))).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('is neither in the service nor on this machine') as string,
      })
  })

  test('refused, and why, although nothing of it is here', async () => {
    const drive = await desk.mount('drive')
    expect((await desk.save(join(drive, 'a.docx'), 'x')).code).not.toBe(0)
    expect(await words(join(drive, 'a.docx'))).toBe(
      'refused: the service takes no docx files (Word documents); nothing of it is here',
    )
    const { stdout } = await desk.docmount('status', drive)
    expect(stdout).toContain('1 name refused: types the service does not take')
    expect(stdout).toContain('/a.docx  refused: the service takes no docx files (Word documents)')
    expect(stdout).toContain('--unsupported-as')
  })

  test('refused by the service, and kept here', async () => {
    const drive = await desk.mount('drive')
    desk.testService.service.faults.inject({ kind: 'status', status: 413 }, { method: 'PUT' })
    await desk.save(join(drive, 'a.txt'), 'x')
    expect(await words(join(drive, 'a.txt'))).toMatch(
      /^refused: .*413.*; it is kept on this machine: docmount retry/,
    )
  })

  test('refused by the service, and nothing of it kept here: what recover says, too', async () => {
    await desk.testService.other.put('/a.txt', 'a')
    const drive = await desk.mount('drive')
    desk.testService.service.faults.inject({ kind: 'status', status: 400 }, { method: 'PUT' })
    await run('mv', [join(drive, 'a.txt'), join(drive, 'b.txt')], { mayFail: true })
    await waitUntil('the rename to be refused', async () =>
      (await words(join(drive, 'b.txt'))).startsWith('refused'),
    )
    expect(await words(join(drive, 'b.txt'))).toMatch(
      /^refused: .*400.*; no content of it is kept on this machine: docmount retry asks again, deleting it here gives it up$/,
    )
    const all = await desk.docmount('recover', '--all', join(desk.home, 'rescued'))
    expect(all.stderr).toContain('there is nothing to copy: what is not sent has no content on this machine')
    expect(all.stderr).not.toContain('everything is with the service')
  })

  test('on this machine only: temporary, empty folder, open in a program', async () => {
    const drive = await desk.mount('drive')
    await desk.save(join(drive, '.~lock.a.txt#'), 'me')
    await run('mkdir', [join(drive, 'empty')])
    expect(await words(join(drive, '.~lock.a.txt#'))).toMatch(
      /^on this machine only \(2 bytes\): belongs to the program/,
    )
    expect(await words(join(drive, 'empty'))).toMatch(/^on this machine only .*with its first document/)
    const status = await statusOf(drive)
    expect(status.scratch).toMatchObject([{ path: '/.~lock.a.txt#' }])
    await run('rm', [join(drive, '.~lock.a.txt#')])
    expect((await statusOf(drive)).scratch).toEqual([])
  })

  test('waiting, or kept and tried again, while the service is away; and that nobody knows of what was never seen', async () => {
    await desk.testService.other.put('/folder/a.txt', 'a')
    const drive = await desk.mount('drive', '--close-wait', '0')
    await desk.testService.stop()
    await desk.save(join(drive, 'a.txt'), 'four')
    await waitUntil('the service to be missed', async () => (await statusOf(drive)).service === 'away')
    expect(await words(join(drive, 'a.txt'))).toMatch(/^kept on this machine \(4 bytes\), /)
    expect(await words(join(drive, 'folder/b.txt'))).toMatch(/^not known now: /)
  })

  test('being sent, and how far', async () => {
    const drive = await desk.mount('drive', '--close-wait', '0')
    const file = join(desk.home, 'large.pdf')
    await writeFile(file, Buffer.alloc(64 * 2 ** 20, 'x'))
    desk.testService.service.faults.inject({ kind: 'latency', ms: 20_000 }, { method: 'PUT' })
    await run('timeout', ['200', 'cp', file, join(drive, 'large.pdf')])
    await waitUntil('it to be on its way', async () => {
      const [change] = (await statusOf(drive)).unsent
      return change !== undefined && change.state === 'sending' && change.sentBytes > 0
    })
    expect(await words(join(drive, 'large.pdf'))).toMatch(/^being sent: .* of 64\.0 MiB \(\d+ %\)$/)
  })
})

describe.skipIf(whyNoFuse() !== undefined)('status of a drive', () => {
  test('names the first ten of what is not sent, and how many more there are', async () => {
    const drive = await desk.mount('drive', '--close-wait', '0')
    await desk.testService.stop()
    await run('timeout', [
      '20',
      'sh',
      '-c',
      'for n in $(seq 60); do echo $n > "$1/$n.txt"; done',
      'sh',
      drive,
    ])
    const { stdout } = await desk.docmount('status', drive)
    expect(stdout).toMatch(/60 not sent \(\d+ bytes\)/)
    expect(stdout.match(/\.txt {2}upload/g)).toHaveLength(10)
    expect(stdout).toContain('and 50 more')
    expect((await statusOf(drive)).unsent).toHaveLength(60)
  })

  test('says that the service refuses the key, and what to do', async () => {
    const drive = await desk.mount('drive', '--close-wait', '0')
    const takeBack = desk.testService.service.faults.inject({ kind: 'status', status: 401 })
    await desk.save(join(drive, 'a.txt'), 'x')
    await waitUntil('it to be told', async () =>
      (await desk.docmount('status', drive)).stdout.includes('service refuses the key (PUT /a.txt: 401'),
    )
    expect((await desk.docmount('status', drive)).stdout).toContain('docmount login')
    takeBack()
    await desk.docmount('retry', drive)
    await waitUntil('it to be well', async () =>
      (await desk.docmount('status', drive)).stdout.includes('service reachable · everything sent'),
    )
  })

  test('names what was refused and what is damaged until it is dismissed, and keeps the damaged file', async () => {
    const drive = await desk.mount('drive')
    const { stateDir } = await statusOf(drive)
    expect((await desk.docmount('unmount', drive)).code).toBe(0)
    await mkdir(stateDir, { recursive: true, mode: 0o700 })
    await writeFile(join(stateDir, 'journal.db'), 'no database')
    await desk.mount('drive')
    await desk.save(join(drive, 'letter.docx'), 'x')
    const { damaged, refusedNames } = await statusOf(drive)
    expect(damaged).toHaveLength(1)
    expect(refusedNames).toMatchObject([{ path: '/letter.docx' }])
    expect((await desk.docmount('dismiss', join(drive, 'letter.docx'))).stdout).toBe(
      '1 refused name is listed no longer\n',
    )
    expect((await statusOf(drive)).damaged).toHaveLength(1)
    const { stdout } = await desk.docmount('dismiss', drive)
    const kept = damaged[0]?.replace('.damaged-', '.dismissed-') ?? ''
    expect(stdout).toContain(`listed no longer; kept as ${kept}`)
    expect(await readFile(kept, 'utf8')).toBe('no database')
    expect(await statusOf(drive)).toMatchObject({ damaged: [], trouble: [], refusedNames: [] })
  })

  test('names conflicts while their copies are there, which show at once', async () => {
    await desk.testService.other.put('/folder/a.txt', 'first')
    const drive = await desk.mount('drive', '--cache-ttl', '10m')
    const file = join(drive, 'folder/a.txt')
    await run('timeout', ['200', 'cat', file])
    await desk.testService.other.put('/folder/a.txt', 'theirs')
    await desk.save(file, 'ours')
    const [copy] = (await statusOf(drive)).conflictCopies
    expect(copy).toMatchObject({
      path: '/folder/a.txt',
      copy: expect.stringContaining('(conflict ') as string,
    })
    expect((await readdir(join(drive, 'folder'))).map((name) => `/folder/${name}`)).toContain(copy?.copy)
    expect((await desk.docmount('status', drive)).stdout).toContain('1 conflict, kept beside the documents')
    expect((await desk.docmount('unmount', drive)).code).toBe(0)
    await desk.mount('drive')
    expect((await statusOf(drive)).conflictCopies).toHaveLength(1)
    await desk.testService.other.delete(copy?.copy ?? '')
    await desk.docmount('refresh', join(drive, 'folder'))
    expect(await statusOf(drive)).toMatchObject({ conflicts: 0, conflictCopies: [] })
  })

  test('is told again when it changes, until Ctrl-C', async () => {
    const drive = await desk.mount('drive')
    const watching = spawn(process.execPath, [cli, 'status', '--watch', '--json'], {
      env: desk.env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let said = ''
    watching.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
    const shown = (): (number | undefined)[] =>
      said
        .split('\n')
        .slice(0, -1)
        .map((line) => (JSON.parse(line) as MountStatus[]).find(({ mountpoint }) => mountpoint === drive))
        .map((status) => status?.scratchFiles)
    await waitUntil('the drive to be told', () => shown().at(-1) === 0)
    await desk.save(join(drive, '.~lock.x#'), 'me')
    await waitUntil('the change to be told', () => shown().at(-1) === 1)
    const ended = once(watching, 'exit')
    watching.kill('SIGINT')
    expect(await ended).toEqual([null, 'SIGINT'])
  })

  test.skipIf(process.getuid?.() !== 0)(
    'of another user is not shown, and asked for is told without advice',
    async () => {
      const user = await makeOrdinaryUser()
      const drive = await desk.mount('drive')
      const theirs = {
        ...desk.env,
        HOME: '/nonexistent',
        XDG_STATE_HOME: '/nonexistent/state',
        XDG_RUNTIME_DIR: '/nonexistent/run',
      }
      const status = (...args: string[]): Promise<string> =>
        run(process.execPath, [cli, 'status', ...args], { env: theirs, user }).then(({ stdout }) => stdout)
      try {
        expect(await status()).not.toContain(drive)
        const all = await status('--all')
        expect(all).toContain(`${drive} is served by another user's docmount (user 0), who alone can ask it`)
        expect(all).not.toContain(`docmount unmount ${drive}`)
      } finally {
        await user.remove()
      }
    },
  )
})

describe.skipIf(whyNoFuse() !== undefined)('unmount', () => {
  test('takes a project’s name, also inside the drive', async () => {
    const drive = await desk.mount(project)
    expect(await desk.docmount('unmount', project)).toMatchObject({ code: 0, stderr: '' })
    await desk.mount(project)
    await desk.mount('other')
    expect((await desk.docmount('unmount', project)).stderr).toMatch(
      /acme is mounted several times; name one: .*other/,
    )
    expect(await desk.docmount('unmount', drive)).toMatchObject({ code: 0, stderr: '' })
  })

  test('takes all of them, and goes on where one stays', async () => {
    const drives = [await desk.mount('one'), await desk.mount('two')]
    const occupant = await occupy(drives[0] ?? '')
    try {
      const { code, stderr } = await desk.docmount('unmount', '--all', '--timeout', '100ms')
      expect(stderr).toMatch(/one is in use by sleep/)
      expect(code).toBe(1)
      expect((await desk.records()).map(({ mountpoint }) => mountpoint)).toEqual([drives[0]])
    } finally {
      await occupant.leave()
    }
    expect(await desk.docmount('unmount', '--all')).toMatchObject({ code: 0, stderr: '' })
    expect(await desk.records()).toEqual([])
  })

  test('says after ten seconds who uses the drive, and lets it live', async () => {
    const drive = await desk.mount('drive')
    const occupant = await occupy(drive)
    try {
      const { code, stderr } = await desk.docmount('unmount', drive)
      expect(stderr).toMatch(/is in use by sleep \(process \d+\); close it there, or add --force/)
      expect(code).toBe(1)
    } finally {
      await occupant.leave()
    }
    expect((await statusOf(drive)).state).toBe('live')
  })

  test.skipIf(process.getuid?.() !== 0)('calls a mount inside the drive one', async () => {
    const drive = await desk.mount('drive')
    await run('mkdir', [join(drive, 'inside')])
    await mkdir(join(desk.home, 'other'), { recursive: true })
    await run('mount', ['-t', 'tmpfs', 'tmpfs', join(drive, 'inside')])
    try {
      const { code, stderr } = await desk.docmount('unmount', drive)
      expect(stderr).toContain(
        `something else is mounted inside ${drive}: unmount ${join(drive, 'inside')} first`,
      )
      expect(code).toBe(1)
    } finally {
      await run('umount', [join(drive, 'inside')])
    }
  })
})
