// The commands about drives fit together: each takes a project's name as it takes a folder, and each answers a script in JSON.

import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { inDrive, startDesk, type Desk } from '../support/desk.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { project } from '../support/service.ts'
import { waitUntil } from '../support/wait-until.ts'

let desk: Desk
beforeEach(async () => {
  desk = await startDesk()
})
afterEach(() => desk.close())

async function json(...args: string[]): Promise<{ code: number | null; value: unknown }> {
  const { code, stdout } = await desk.docmount(...args, '--json')
  return { code, value: JSON.parse(stdout) as unknown }
}

async function leaveUnsent(name: string): Promise<string> {
  const drive = await desk.mount(name, '--close-wait', '0')
  await desk.testService.stop()
  await desk.save(join(drive, 'a.txt'), 'kept')
  expect((await desk.docmount('unmount', drive, '--timeout', '100ms')).code).toBe(1)
  return drive
}

describe.skipIf(whyNoFuse() !== undefined)('a project’s name stands for its drive', () => {
  test('with status, log, wait, refresh and retry', async () => {
    const drive = await desk.mount('drive')
    await desk.save(join(drive, 'a.txt'), 'four')
    expect((await desk.docmount('status', project)).stdout).toContain(`${drive}  ${project} at`)
    expect(await json('status', project)).toMatchObject({
      code: 0,
      value: { mountpoint: drive, state: 'live' },
    })
    expect((await desk.docmount('log', project)).stdout).toContain('live')
    for (const command of ['wait', 'refresh', 'retry'])
      expect(await desk.docmount(command, project)).toMatchObject({ code: 0, stderr: '' })
    expect((await desk.docmount('refresh')).code).toBe(0)
    const none = await desk.docmount('status', 'other')
    expect(none).toMatchObject({ code: 1 })
    expect(none.stderr).toBe(
      'docmount: other is neither on a drive nor the project of one; docmount status lists them\n',
    )
  })

  test('with explain, which tells what holds a change', async () => {
    const drive = await desk.mount('drive', '--close-wait', '0')
    const document = join(drive, 'a.txt')
    expect((await desk.docmount('explain', document)).stdout).toMatch(
      /^\/a\.txt shows nothing: the listing of its folder says so\n {2}listing asked for at [-\d]+ [:\d]+: nothing\n$/,
    )
    await desk.docmount('pause')
    await desk.save(document, 'kept')
    expect((await desk.docmount('explain', document)).stdout).toMatch(
      /^\/a\.txt shows a document: the service does not have it as it is here\n[^]*\n {2}upload since [-\d]+ [:\d]+: waits while the drive is paused/,
    )
    await desk.docmount('resume')
    await desk.docmount('wait', drive)
    expect(await json('explain', document)).toMatchObject({
      code: 0,
      value: { path: '/a.txt', shows: 'document', rule: 'lagging', changes: [] },
    })
  })

  test('with report, which writes what it knows without names', async () => {
    const drive = await desk.mount('drive', '--close-wait', '0')
    await desk.docmount('pause')
    await desk.save(join(drive, 'secret.txt'), 'kept')
    const file = join(desk.home, 'report.json')
    expect(await desk.docmount('report', file)).toMatchObject({
      code: 0,
      stdout: `${file} is written; every name shows what its rows say\n`,
    })
    const text = await readFile(file, 'utf8')
    expect(text).not.toContain('secret')
    expect(text).not.toContain(desk.testService.apiKey)
    expect(JSON.parse(text)).toMatchObject({
      drive: { state: 'live', isPaused: true },
      folders: [{ path: '/', names: [{ name: '1', shows: { kind: 'file' } }] }],
      changes: [{ kind: 'put', path: '/1', waits: { for: 'pause' } }],
    })
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect((await desk.docmount('report', file)).stderr).toContain('is there already; name another file')
    await desk.docmount('resume')
    await desk.docmount('wait', drive)
    await desk.docmount('report', `${file}.2`, project, '--names')
    expect(await readFile(`${file}.2`, 'utf8')).toContain('"path": "/secret.txt"')
  })

  test('also after it was unmounted: what is not sent is named, by its folder and by its project', async () => {
    const drive = await leaveUnsent('drive')
    for (const name of [drive, project, join(drive, 'a.txt')]) {
      const { code, stdout } = await desk.docmount('status', name)
      expect(stdout).toContain(`${drive}  ${project} at ${desk.testService.baseUrl}  unmounted`)
      expect(stdout).toContain('/a.txt')
      expect(stdout).toContain('to send it, run: docmount mount')
      expect(code).toBe(1)
    }
    expect(await json('status', drive)).toMatchObject({
      code: 1,
      value: { mountpoint: drive, state: 'unmounted', unsent: [{ path: '/a.txt' }] },
    })
  })
})

describe.skipIf(whyNoFuse() !== undefined)('link', () => {
  test('prints an address that opens without a key, and until when it holds', async () => {
    const drive = await desk.mount('drive')
    await desk.save(join(drive, 'a.txt'), 'four')
    await desk.save(join(drive, 'b.txt'), 'five')
    const beforeMs = Date.now()
    const { code, stdout, stderr } = await desk.docmount('link', join(drive, 'a.txt'), join(drive, 'b.txt'))
    expect(code).toBe(0)
    const [first = '', second = '', ...others] = stdout.split('\n')
    expect(others).toEqual([''])
    expect(await (await fetch(first)).text()).toBe('four')
    expect(await (await fetch(second)).text()).toBe('five')
    expect(stderr).toMatch(/\/a\.txt: holds until \d{4}-.*\n.*\/b\.txt: holds until /)
    const { value } = await json('link', join(drive, 'a.txt'))
    expect(value).toEqual([{ path: '/a.txt', url: expect.any(String), until: expect.any(String) }])
    const [{ until }] = value as [{ until: string }]
    const minutes = (Date.parse(until) - beforeMs) / 60_000
    expect(minutes).toBeGreaterThanOrEqual(15)
    expect(minutes).toBeLessThan(17)
    const log = (await desk.docmount('log', drive)).stdout
    for (const url of [first, second]) expect(log).not.toContain(new URL(url).search)
  })

  test('says why a name has none', async () => {
    await desk.testService.other.put('/folder/b.txt', 'five')
    const drive = await desk.mount('drive', '--close-wait', '0')
    await mkdir(join(drive, 'new'))
    await desk.save(join(drive, '.~lock.a.pdf#'), 'lock')
    const why = async (name: string): Promise<string> =>
      (await desk.docmount('link', join(drive, name))).stderr
    expect(await why('folder')).toBe(
      'docmount: /folder is a folder; only documents have a download address\n',
    )
    expect(await why('new')).toMatch(/^docmount: \/new is on this machine only: an empty folder /)
    expect(await why('no.txt')).toBe('docmount: /no.txt is neither in the service nor on this machine\n')
    expect(await why('.~lock.a.pdf#')).toMatch(/^docmount: \/\.~lock\.a\.pdf# is on this machine only: /)
    await desk.testService.stop()
    await desk.save(join(drive, 'a.txt'), 'four')
    expect(await why('a.txt')).toBe('docmount: /a.txt is not sent yet; docmount wait returns when it is\n')
  })
})

describe.skipIf(whyNoFuse() !== undefined)('mount --all', () => {
  test('mounts every drive that left something and every project of the config file, and names what fails', async () => {
    const left = await leaveUnsent('left')
    await desk.testService.start()
    const { baseUrl: base_url, apiKey: api_key } = desk.testService
    const config = join(desk.home, 'config.json')
    const section = { base_url, api_key }
    await writeFile(config, JSON.stringify({ projects: { gone: section, [project]: section } }), {
      mode: 0o600,
    })
    const { DOCMOUNT_API_KEY: _key, DOCMOUNT_BASE_URL: _url, ...env } = desk.env
    desk.env = { ...env, DOCMOUNT_CONFIG: config }
    const first = await desk.docmount('mount', '--all')
    expect(first).toMatchObject({ code: 1, stdout: `${project} is mounted at ${left}\n` })
    expect(first.stderr).toMatch(/^docmount: .*gone/)
    expect((await desk.docmount('wait', left)).code).toBe(0)
    expect((await desk.docmount('unmount', left)).code).toBe(0)
    const second = await desk.docmount('mount', '--all')
    expect(second.stdout).toBe(`${project} is mounted at ${join(desk.home, project)}\n`)
    expect((await desk.docmount('mount', '--all', '--read-only')).code).toBe(2)
    expect((await desk.docmount('mount')).code).toBe(2)
  })
})

describe.skipIf(whyNoFuse() !== undefined)('projects', () => {
  test('lists what the key sees and the config file names: where it is mounted, and its state', async () => {
    const config = join(desk.home, 'config.json')
    await writeFile(config, JSON.stringify({ projects: { other: { read_only: true } } }), { mode: 0o600 })
    desk.env = { ...desk.env, DOCMOUNT_CONFIG: config }
    const rows = async (): Promise<string[]> =>
      (await desk.docmount('projects')).stdout.split('\n').map((line) => line.replaceAll(/ {2,}/g, ' | '))
    expect(await rows()).toEqual([
      'NAME | MOUNTED AT | STATE | CREATED | ID',
      'other | - | not mounted | - | -',
      expect.stringMatching(/^acme \| - \| not mounted \| \d{4}-/),
      '',
    ])
    const drive = await desk.mount('drive', '--close-wait', '0')
    expect(await rows()).toContainEqual(expect.stringContaining(`acme | ${drive} | everything sent | 2`))
    const known = JSON.parse((await desk.docmount('projects', '--json')).stdout) as unknown
    expect(known).toMatchObject([{ mounts: [{ mountpoint: drive, state: 'everything sent' }] }])
    await desk.testService.stop()
    await desk.save(join(drive, 'a.txt'), 'a')
    await desk.docmount('refresh', drive)
    const without = await desk.docmount('projects')
    expect(without).toMatchObject({
      code: 75,
      stdout: expect.stringContaining('the service is away, 1 not sent'),
    })
    expect(without.stderr).toContain('no connection')
    await desk.kill(drive)
    expect(await rows()).toContainEqual(`acme | ${drive} | ended without being unmounted | - | -`)
    await desk.docmount('unmount', drive)
    expect(await rows()).toContainEqual(`acme | ${drive} | not mounted, 1 change is not sent | - | -`)
  })
})

describe.skipIf(whyNoFuse() !== undefined)('mount --ui', () => {
  test.each(['unmount', 'kill'])('serves the page as long as the drive lives: %s', async (end) => {
    const { code, stdout } = await desk.docmount('mount', project, desk.drive, '--ui')
    expect(code).toBe(0)
    const address = /^http:\/\/127\.0\.0\.1:\d+\/\?token=\S+$/m.exec(stdout)?.[0] ?? ''
    const entered = await fetch(address, { redirect: 'manual' })
    const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? ''
    const { origin } = new URL(address)
    expect(await (await fetch(origin, { headers: { cookie } })).text()).toContain(desk.drive)
    // Its token is a secret.
    const log = (await desk.docmount('log', desk.drive)).stdout
    expect(log).not.toContain(new URL(address).searchParams.get('token'))
    if (end === 'kill') await desk.kill(desk.drive)
    else expect((await desk.docmount('unmount', desk.drive)).code).toBe(0)
    await waitUntil('the page to end', () =>
      fetch(origin).then(
        () => false,
        () => true,
      ),
    )
  })
})

describe.skipIf(whyNoFuse() !== undefined)('pause', () => {
  test('sends nothing, not even what is removed with its folder, until resume', async () => {
    const { other } = desk.testService
    await other.put('/gone/a.txt', 'a')
    await other.put('/old.txt', 'old')
    const drive = await desk.mount('drive')
    expect(await desk.docmount('pause', drive)).toMatchObject({ code: 0, stderr: '' })
    await desk.save(join(drive, 'new.txt'), 'new')
    expect((await inDrive('mv', join(drive, 'old.txt'), join(drive, 'moved.txt'))).code).toBe(0)
    expect((await inDrive('rm', '-r', join(drive, 'gone'))).code).toBe(0)
    expect((await inDrive('ls', drive)).stdout).toBe('moved.txt\nnew.txt\n')
    const { stdout } = await desk.docmount('status', drive)
    expect(stdout).toContain('paused: nothing is sent until docmount resume')
    expect((await desk.docmount('wait', drive)).stderr).toContain(
      'sending is paused; docmount resume goes on',
    )
    expect([...((await other.documents('/')) ?? [])].map(([path]) => path).toSorted()).toEqual([
      'gone/a.txt',
      'old.txt',
    ])
    expect(await desk.docmount('resume', drive)).toMatchObject({ code: 0, stderr: '' })
    expect((await desk.docmount('wait', drive)).code).toBe(0)
    expect([...((await other.documents('/')) ?? [])].map(([path]) => path).toSorted()).toEqual([
      'moved.txt',
      'new.txt',
    ])
  })

  test('is over with the drive: what is not sent is named at its end, and sent after the next mount', async () => {
    const drive = await desk.mount('drive')
    await desk.docmount('pause', drive)
    await desk.save(join(drive, 'new.txt'), 'new')
    const { code, stderr } = await desk.docmount('unmount', drive)
    expect(code).toBe(1)
    expect(stderr).toContain('/new.txt')
    await desk.mount('drive')
    expect((await desk.docmount('wait', drive)).code).toBe(0)
    expect((await desk.testService.other.bytes('/new.txt')).toString()).toBe('new')
  })
})

describe.skipIf(whyNoFuse() !== undefined)('activity', () => {
  test('tells what became of each change, also after the next mount, and of one folder alone', async () => {
    const drive = await desk.mount('drive')
    expect(await desk.docmount('activity', drive)).toMatchObject({ code: 0, stdout: '', stderr: '' })
    await mkdir(join(drive, 'in'))
    await desk.save(join(drive, 'in/a.txt'), 'four')
    await desk.save(join(drive, 'in/a.txt'), 'longer')
    await inDrive('mv', join(drive, 'in/a.txt'), join(drive, 'b.txt'))
    await inDrive('cp', '--reflink=never', join(drive, 'b.txt'), join(drive, 'c.txt'))
    await inDrive('rm', join(drive, 'c.txt'))
    desk.testService.service.faults.inject(
      { kind: 'status', status: 413 },
      { method: 'PUT', path: '/no.txt' },
    )
    await inDrive('cp', join(drive, 'b.txt'), join(drive, 'no.txt'))
    expect((await desk.docmount('unmount', drive, '--timeout', '5s')).code).toBe(1)
    await desk.mount('drive')
    const { code, stdout, stderr } = await desk.docmount('activity', drive)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const lines = stdout.trim().split('\n')
    for (const line of lines) expect(line).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d  /)
    const told = lines.map((line) => line.slice('2026-11-27 05:00:00  '.length))
    expect(told).toEqual(
      expect.arrayContaining([
        'sent      /in/a.txt (4 bytes)',
        'replaced  /in/a.txt (6 bytes)',
        'moved     /in/a.txt → /b.txt (6 bytes)',
        'sent      /c.txt (6 bytes)',
        'deleted   /c.txt',
        expect.stringMatching(/^refused   \/no\.txt: .*413/),
      ]),
    )
    const folder = (await desk.docmount('activity', join(drive, 'in'), '--json')).stdout.trim().split('\n')
    expect(folder.map((line) => (JSON.parse(line) as { kind: string }).kind)).toEqual([
      'sent',
      'replaced',
      'moved',
    ])
  })

  test('tells of a document that came whole in one line, and of 200 deletes in another', async () => {
    await desk.testService.other.put('/large.pdf', Buffer.alloc(1_000_000, '%PDF-1.4 '))
    for (let turn = 0; turn < 200; turn++)
      await desk.testService.other.put(`/many/${turn % 4}/${turn}.txt`, 'x')
    const drive = await desk.mount('drive')
    const told = async (): Promise<string[]> =>
      (await desk.docmount('activity', drive)).stdout
        .trim()
        .split('\n')
        .map((line) => line.slice('2026-11-27 05:00:00  '.length))
    await desk.save(join(drive, 'a.txt'), 'four')
    await inDrive('cat', join(drive, 'large.pdf'))
    await inDrive('cat', join(drive, 'large.pdf'))
    await waitUntil('it to be told', async () => (await told()).some((line) => line.startsWith('received')))
    expect((await inDrive('rm', '-r', join(drive, 'many'))).code).toBe(0)
    expect((await desk.docmount('unmount', drive)).code).toBe(0)
    await desk.mount('drive')
    expect(await told()).toEqual([
      'sent      /a.txt (4 bytes)',
      'received  /large.pdf (976.6 KiB)',
      'deleted   200 below /many',
    ])
  })
})

describe.skipIf(whyNoFuse() !== undefined)('--json', () => {
  test('tells what wait, refresh, retry, recover and unmount did', async () => {
    const drive = await desk.mount('drive')
    await desk.save(join(drive, 'a.txt'), 'four')
    expect(await json('wait', drive)).toEqual({
      code: 0,
      value: { mountpoint: drive, path: '/', isSent: true, localOnly: [] },
    })
    expect(await json('refresh', join(drive, 'a.txt'))).toMatchObject({
      code: 0,
      value: { path: '/a.txt', state: 'stored' },
    })
    expect(await json('retry', drive)).toMatchObject({ code: 0, value: { mountpoint: drive, retried: 0 } })
    const copy = join(desk.home, 'copy.txt')
    expect(await json('recover', join(drive, 'a.txt'), copy)).toEqual({ code: 0, value: { files: [copy] } })
    expect(await json('recover', '--lost', drive, join(desk.home, 'lost'))).toEqual({
      code: 0,
      value: { files: [] },
    })
    expect(await json('recover', '--all', join(desk.home, 'all'))).toEqual({ code: 0, value: { files: [] } })
    expect(await json('unmount', drive)).toEqual({
      code: 0,
      value: { mountpoint: drive, isUnmounted: true, isDetached: false, unsent: [], localOnly: [] },
    })
    expect(await json('unmount', '--all')).toEqual({ code: 0, value: [] })
  })

  test('tells what is not sent, by wait and by unmount', async () => {
    const drive = await desk.mount('drive', '--close-wait', '0')
    await desk.testService.stop()
    await desk.save(join(drive, 'a.txt'), 'kept')
    expect(await json('wait', drive, '--timeout', '100ms')).toMatchObject({
      code: 75,
      value: { isSent: false, unsent: [{ path: '/a.txt' }] },
    })
    expect(await json('recover', '--all', join(desk.home, 'all'))).toMatchObject({
      code: 0,
      value: { files: [expect.stringMatching(/a\.txt$/)] },
    })
    expect(await json('unmount', drive, '--timeout', '100ms')).toMatchObject({
      code: 1,
      value: { isUnmounted: true, unsent: [{ path: '/a.txt' }] },
    })
  })

  test('is JSON also where there is no drive', async () => {
    for (const words of [
      ['wait'],
      ['retry'],
      ['refresh', 'acme'],
      ['status', 'acme'],
      ['unmount', 'acme'],
      ['recover', 'a', 'b'],
    ]) {
      const { code, value } = await json(...words)
      expect({ words, code, value }).toEqual({
        words,
        code: 1,
        value: { error: expect.any(String) as string },
      })
    }
    expect(await json('unmount', '--all')).toEqual({ code: 0, value: [] })
  })

  test('tells what put and get moved', async () => {
    const folder = join(desk.home, 'in')
    await mkdir(folder)
    await writeFile(join(folder, 'a.txt'), 'four')
    await writeFile(join(folder, 'b.docx'), 'four')
    const file = join(folder, 'a.txt')
    expect(await json('put', project, file, '/one.txt')).toEqual({
      code: 0,
      value: { stored: [{ path: '/one.txt', bytes: 4 }], skipped: [], failed: [] },
    })
    expect(await json('put', project, folder, '/')).toMatchObject({
      code: 1,
      value: {
        stored: [{ path: '/in/a.txt', bytes: 4 }],
        failed: [
          {
            path: expect.stringContaining('b.docx') as string,
            error: expect.stringContaining('docx') as string,
          },
        ],
      },
    })
    const out = join(desk.home, 'out.txt')
    expect(await json('get', project, '/one.txt', out)).toEqual({
      code: 0,
      value: { fetched: [{ path: '/one.txt', bytes: 4 }], skipped: [], failed: [] },
    })
    expect(await readFile(out, 'utf8')).toBe('four')
    expect(await json('get', project, '/one.txt', out, '--skip-existing')).toEqual({
      code: 0,
      value: { fetched: [], skipped: [{ path: '/one.txt' }], failed: [] },
    })
    expect(await json('get', project, '/in', desk.home)).toMatchObject({
      value: { fetched: [{ path: '/in/a.txt', bytes: 4 }] },
    })
    expect(await json('put', project, file, '/one.txt')).toMatchObject({
      code: 1,
      value: { error: expect.stringContaining('/one.txt') as string },
    })
  })
})
