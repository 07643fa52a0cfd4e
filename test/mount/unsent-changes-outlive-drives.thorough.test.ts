// Unsent changes are never out of sight: they are named when their drive is gone, with the command that sends them,
// and can be copied out without any drive.

import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startService } from '../../src/service/start-service.ts'
import { startDesk, type Desk } from '../support/desk.ts'
import { otherClient } from '../support/other-client.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { run } from '../support/run.ts'
import { project } from '../support/service.ts'

interface ShownDrive {
  readonly mountpoint?: string
  readonly state: string
  readonly command?: string
  readonly unsent?: readonly { readonly path: string }[]
}

let desk: Desk
beforeEach(async () => {
  desk = await startDesk()
})
afterEach(() => desk.close())

async function shown(): Promise<readonly ShownDrive[]> {
  const drives = JSON.parse((await desk.docmount('status', '--json')).stdout) as ShownDrive[]
  // Those of tests beside are the same user's.
  return drives.filter(
    ({ state, mountpoint = desk.home }) => state !== 'unknown' && mountpoint.startsWith(desk.home),
  )
}

/** A drive that ended with a document unsent, because the service was away. */
async function leaveUnsent(name: string, ...args: readonly string[]): Promise<string> {
  const drive = await desk.mount(name, '--close-wait', '0', ...args)
  await desk.testService.stop()
  await desk.save(join(drive, 'a.txt'), 'kept')
  expect((await desk.docmount('unmount', drive, '--timeout', '100ms')).code).toBe(1)
  return drive
}

function stateFolders(): Promise<string[]> {
  return readdir(join(desk.home, '.local/state/docmount'))
}

describe.skipIf(whyNoFuse() !== undefined)('what a drive left unsent', () => {
  test('is named by status with the command that sends it, until it is sent', async () => {
    const drive = await leaveUnsent('drive')
    const [left] = await shown()
    expect(left).toMatchObject({ mountpoint: drive, state: 'unmounted', unsent: [{ path: '/a.txt' }] })
    const { stdout } = await desk.docmount('status')
    expect(stdout).toContain(`${drive}  ${project} at ${desk.testService.baseUrl}  unmounted`)
    expect(stdout).toContain(`to send it, run: ${left?.command}`)
    await desk.testService.start()
    const words = (left?.command ?? '').split(' ')
    expect(words[0]).toBe('docmount')
    expect((await desk.docmount(...words.slice(1))).code).toBe(0)
    expect((await desk.docmount('wait', drive, '--timeout', '20s')).code).toBe(0)
    expect((await desk.testService.other.bytes('/a.txt')).toString()).toBe('kept')
    expect((await desk.docmount('unmount', drive)).code).toBe(0)
    expect(await shown()).toEqual([])
  })

  test('is named where its drive.json is damaged, and sent by the next mount', async () => {
    const drive = await leaveUnsent('drive')
    const [folder] = (await stateFolders()).filter((name) => name.startsWith(project))
    const file = join(desk.home, '.local/state/docmount', folder!, 'drive.json')
    await writeFile(file, '{"project":"ac')
    const { stdout, code } = await desk.docmount('status')
    expect(code).toBe(0)
    expect(stdout).toContain(
      `${file} is damaged: it does not say whose these changes are, 1 change is not sent`,
    )
    expect(stdout).toContain('/a.txt')
    await desk.testService.start()
    expect(await desk.mount('drive')).toBe(drive)
    expect((await desk.docmount('wait', drive, '--timeout', '20s')).code).toBe(0)
    expect((await desk.testService.other.bytes('/a.txt')).toString()).toBe('kept')
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ project, mountpoint: drive })
  })

  test('with --state-dir is not sent to another project where both files that name its own are damaged', async () => {
    const stateDir = join(desk.home, 'elsewhere')
    const drive = await leaveUnsent('drive', '--state-dir', stateDir)
    const [name] = (await stateFolders()).filter((each) => each.endsWith('.drive.json'))
    const [own, pointer] = [join(stateDir, 'drive.json'), join(desk.home, '.local/state/docmount', name!)]
    const whole = await readFile(own)
    await writeFile(own, 'null')
    // The pointer still tells.
    expect((await shown())[0]).toMatchObject({ mountpoint: drive, unsent: [{ path: '/a.txt' }] })
    await writeFile(pointer, whole.subarray(0, 20))
    const { stdout } = await desk.docmount('status')
    expect(stdout).toContain(
      `${pointer} is damaged: it does not say where its drive keeps changes (--state-dir)`,
    )
    expect(await desk.docmount('recover', '--all', join(desk.home, 'copies'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`${pointer} is damaged`),
    })
    await desk.testService.start()
    const refused = await desk.docmount('mount', project, drive, '--state-dir', stateDir)
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        `${own} is damaged, and does not say whose unsent changes are beside it: if they are ${project}'s, remove that file and mount again`,
      ),
    })
    await rm(own)
    await desk.mount('drive', '--state-dir', stateDir)
    expect((await desk.docmount('wait', drive, '--timeout', '20s')).code).toBe(0)
    expect((await desk.testService.other.bytes('/a.txt')).toString()).toBe('kept')
    expect(await readFile(pointer, 'utf8')).toBe(await readFile(own, 'utf8'))
  })

  test('is sent by unmount where it would have become a document, and its program’s own stays', async () => {
    const drive = await desk.mount('drive')
    for (const name of ['a.txt', 'report.tmp', '.a.txt.swp', 'a.txt~'])
      await desk.save(join(drive, name), 'kept')
    expect(await desk.docmount('unmount', drive)).toMatchObject({
      code: 0,
      stderr:
        'docmount: 1 temporary file is on this machine only, and kept for the next mount:\n  /a.txt~  4 bytes  a backup of a.txt\n',
    })
    expect([...((await desk.testService.other.documents('/')) ?? [])].map(([path]) => path)).toEqual([
      'a.txt',
      'report.tmp',
    ])
  })

  test('is named after a crash, also when the record of it is gone', async () => {
    const drive = await desk.mount('drive', '--close-wait', '0')
    await desk.testService.stop()
    await desk.save(join(drive, 'a.txt'), 'kept')
    await desk.kill(drive)
    expect(await shown()).toMatchObject([
      { mountpoint: drive, state: 'dead', left: { unsent: [{ path: '/a.txt' }] } },
    ])
    expect((await desk.docmount('unmount', drive)).code).toBe(1)
    expect(await shown()).toMatchObject([
      { mountpoint: drive, state: 'unmounted', unsent: [{ path: '/a.txt' }] },
    ])
  })

  test('is named where its state folder was chosen', async () => {
    const drive = await leaveUnsent('drive', '--state-dir', join(desk.home, 'a state'))
    const [left] = await shown()
    expect(left).toMatchObject({ mountpoint: drive, state: 'unmounted' })
    expect(left?.command).toContain(`--state-dir '${join(desk.home, 'a state')}'`)
  })

  test('is never sent to another project, whoever is given its state folder', async () => {
    const state = join(desk.home, 'state')
    await leaveUnsent('drive', '--state-dir', state)
    const service = await startService({ dataDir: join(desk.home, 'service'), projects: ['other'] })
    try {
      const apiKey = service.projects[0]?.apiKey ?? ''
      desk.env = { ...desk.env, DOCMOUNT_BASE_URL: service.baseUrl, DOCMOUNT_API_KEY: apiKey }
      const place = join(desk.home, 'place')
      await mkdir(place)
      expect(await desk.docmount('mount', 'other', place, '--state-dir', state)).toMatchObject({
        code: 1,
        stderr: `docmount: the state folder ${state} is the project ${project}'s (${desk.testService.baseUrl}); choose another --state-dir for other\n`,
      })
      expect(await shown()).toMatchObject([{ state: 'unmounted', unsent: [{ path: '/a.txt' }] }])
      expect(await otherClient(service.baseUrl, 'other', apiKey).documents('/')).toEqual(new Map())
    } finally {
      await service.close()
    }
  })

  test('goes to the address that its state folder is mounted with next, which is said', async () => {
    const state = join(desk.home, 'state')
    const drive = await leaveUnsent('drive', '--state-dir', state)
    await desk.testService.start()
    const baseUrl = desk.testService.baseUrl.replace('127.0.0.1', 'localhost')
    const options = ['--quiet', '--state-dir', state, '--base-url', baseUrl]
    const { code, stderr } = await desk.docmount('mount', project, drive, ...options)
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: `docmount: ${state} was used with ${desk.testService.baseUrl}: 1 change is not sent; what is not sent goes to ${baseUrl} now\n`,
    })
    expect((await desk.docmount('wait', drive, '--timeout', '20s')).code).toBe(0)
    expect((await desk.testService.other.bytes('/a.txt')).toString()).toBe('kept')
    await desk.testService.stop()
    await desk.save(join(drive, 'b.txt'), 'kept too')
    await desk.docmount('unmount', drive, '--timeout', '100ms')
    const [left] = await shown()
    expect(left?.command).toContain(`--base-url ${baseUrl}`)
  })

  test('is told to whoever mounts the same project elsewhere', async () => {
    const drive = await leaveUnsent('drive')
    await desk.testService.start()
    await mkdir(join(desk.home, 'other'))
    const { code, stderr } = await desk.docmount('mount', project, join(desk.home, 'other'))
    expect(stderr).toMatch(
      /^docmount: the drive .* is not mounted: 1 change is not sent; to send it, run: docmount mount/,
    )
    expect(stderr).toContain(drive)
    expect(code).toBe(0)
  })

  test('is copied out of every drive at once, mounted or not, under names that do not collide', async () => {
    await leaveUnsent('drive')
    await desk.testService.start()
    const other = join(desk.home, 'other')
    await mkdir(other)
    await desk.docmount('mount', project, other, '--close-wait', '0')
    await desk.testService.stop()
    await desk.save(join(other, 'a.txt'), 'of the other')
    const folder = join(desk.home, 'rescued')
    for (const times of [1, 2]) {
      const { code, stdout } = await desk.docmount('recover', '--all', folder)
      expect(code).toBe(0)
      const files = stdout.trim().split('\n')
      const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')))
      expect(texts.sort(), `time ${times}`).toEqual(['kept', 'of the other'])
      expect(new Set(files).size).toBe(2)
    }
    expect((await shown()).map(({ state }) => state).sort()).toEqual(['live', 'unmounted'])
  })

  test('is copied out although the journal is damaged', async () => {
    const drive = await leaveUnsent('drive')
    const [state = ''] = (await stateFolders()).filter((name) => name.startsWith(project))
    const stateDir = join(desk.home, '.local/state/docmount', state)
    for (const part of ['', '-wal', '-shm']) await run('rm', ['-f', join(stateDir, `journal.db${part}`)])
    await writeFile(join(stateDir, 'journal.db'), 'no journal')
    expect((await desk.docmount('status')).stdout).toMatch(/its journal cannot be read/)
    const { code, stdout } = await desk.docmount('recover', '--all', join(desk.home, 'rescued'))
    expect(code).toBe(1)
    expect(await readFile(stdout.trim(), 'utf8')).toBe('kept')
    expect(drive).toBeTruthy()
  })
})

describe.skipIf(whyNoFuse() !== undefined)('a state folder', () => {
  test('that holds nothing goes when a mount fails', async () => {
    const { code } = await desk.docmount('mount', 'nosuch', desk.drive)
    expect(code).toBe(1)
    expect(await stateFolders()).toEqual([])
    await desk.testService.stop()
    expect((await desk.docmount('mount', project, desk.drive)).code).toBe(75)
    expect(await stateFolders()).toEqual([])
  })

  test('that holds something stays when a mount fails, whatever it is', async () => {
    await leaveUnsent('drive')
    const before = await stateFolders()
    desk.env = { ...desk.env, DOCMOUNT_API_KEY: 'dmk_WRONG' }
    await desk.testService.start()
    expect((await desk.docmount('mount', project, join(desk.home, 'drive'))).code).toBe(1)
    expect(await stateFolders()).toEqual(before)
    expect(await shown()).toMatchObject([{ unsent: [{ path: '/a.txt' }] }])
  })
})

test.skipIf(whyNoFuse() !== undefined)(
  'a drive is its person’s with and without XDG_RUNTIME_DIR',
  async () => {
    const drive = await desk.mount('drive')
    const { XDG_RUNTIME_DIR: _runtime, ...without } = desk.env
    desk.env = { ...without, XDG_RUNTIME_DIR: join(desk.home, 'elsewhere') }
    expect(await shown()).toMatchObject([{ mountpoint: drive, state: 'live' }])
    expect((await desk.docmount('mount', project, drive)).stdout).toContain('is mounted at')
    expect(await desk.docmount('unmount', drive)).toMatchObject({ code: 0, stderr: '' })
    expect(await desk.records()).toEqual([])
  },
)

test.skipIf(whyNoFuse() !== undefined)(
  'the record of a daemon that died under another XDG_RUNTIME_DIR goes with the next mount',
  async () => {
    const drive = await desk.mount('drive')
    await desk.kill(drive)
    const { XDG_RUNTIME_DIR: runtime } = desk.env
    desk.env = { ...desk.env, XDG_RUNTIME_DIR: join(desk.home, 'elsewhere') }
    expect(await shown()).toMatchObject([{ mountpoint: drive, state: 'dead' }])
    await desk.mount('drive')
    expect(await desk.docmount('unmount', drive)).toMatchObject({ code: 0, stderr: '' })
    desk.env = { ...desk.env, XDG_RUNTIME_DIR: runtime }
    expect(await shown()).toEqual([])
  },
)
