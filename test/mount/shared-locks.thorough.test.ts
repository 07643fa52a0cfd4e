// Two drives of one project, mounted with `--share-locks`: what programs on one see of those on the other.

import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { inDrive, startDesk, type Desk } from '../support/desk.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { isInstalled, run } from '../support/run.ts'
import { startWebdavDrive } from '../support/webdav-drive.ts'
import { waitUntil } from '../support/wait-until.ts'

/** Debian's python3 has the package of LibreOffice, others need not. */
const python = '/usr/bin/python3'
const hasOffice =
  isInstalled('soffice') &&
  spawnSync(python, ['-c', 'import uno']).status === 0 &&
  spawnSync('unshare', ['--uts', 'true']).status === 0

let desk: Desk
let programs: ChildProcess[] = []
beforeEach(async () => {
  desk = await startDesk()
})
afterEach(async () => {
  for (const program of programs) await ended(program)
  programs = []
  await desk.close()
})

/** A program that writes to standard output when it has begun, and ends with its standard input. */
async function begin(...command: [string, ...string[]]): Promise<{ line: string; program: ChildProcess }> {
  const [name, ...args] = command
  const program = spawn(name, args, { cwd: '/', env: desk.env, stdio: ['pipe', 'pipe', 'ignore'] })
  programs.push(program)
  const [line] = (await Promise.race([
    once(createInterface(program.stdout), 'line'),
    once(program, 'exit').then(() => ['it ended']),
  ])) as [string]
  return { line, program }
}

async function ended(program: ChildProcess): Promise<void> {
  if (program.exitCode !== null || program.signalCode !== null) return
  program.stdin?.end()
  await once(program, 'exit')
}

/** A program that makes a file as a lock (O_CREAT | O_EXCL), and runs on. */
async function holding(path: string, line: string): Promise<ChildProcess> {
  const script = 'set -C; printf %s "$2" > "$1" && echo made && read -r end'
  const begun = await begin('timeout', '100', 'bash', '-c', script, 'bash', path, line)
  expect(begun.line).toBe('made')
  return begun.program
}

const inService = async (): Promise<string[]> => [
  ...((await desk.testService.other.documents('/')) ?? new Map()).keys(),
]

async function twoDrives(driver = 'kernel'): Promise<[string, string]> {
  await desk.testService.other.put('/a.csv', 'a,b')
  return [
    await desk.mount('one', '--share-locks'),
    await desk.mount('two', '--share-locks', '--driver', driver),
  ]
}

describe.skipIf(whyNoFuse() !== undefined)('a lock on two mounted drives', () => {
  test.each(['kernel', 'fuse-native'])(
    'is another drive’s until its program removes it: %s',
    async (driver) => {
      const [one, two] = await twoDrives(driver)
      const [here, there] = [join(one, '.~lock.a.csv#'), join(two, '.~lock.a.csv#')]
      expect((await inDrive('cat', there)).stderr).toContain('No such file')
      await holding(here, 'me,me,desk;')
      expect((await inDrive('bash', '-c', 'set -C; echo you > "$1"', 'bash', there)).stderr).toContain(
        'cannot overwrite',
      )
      expect((await inDrive('cat', there)).stdout).toBe('me,me,desk;')
      expect((await inDrive('ls', '-A', two)).stdout).toBe('.~lock.a.csv#\na.csv\n')
      expect((await desk.docmount('activity', two)).stdout).not.toContain('lock')
      expect((await desk.docmount('status', one)).stdout).not.toMatch(/unsent|to send/)
      await inDrive('rm', here)
      expect((await inDrive('cat', there)).stderr).toContain('No such file')
      expect((await inDrive('ls', '-A', two)).stdout).toBe('a.csv\n')
      expect(await inService()).toEqual(['a.csv'])
    },
  )

  test('through fuse-native is another drive’s, too, and goes with it', async () => {
    const [one, two] = await twoDrives('fuse-native')
    const [here, there] = [join(two, '.~lock.a.csv#'), join(one, '.~lock.a.csv#')]
    await holding(here, 'me,me,desk;')
    expect((await inDrive('cat', there)).stdout).toBe('me,me,desk;')
    await inDrive('rm', here)
    expect(await inService()).toEqual(['a.csv'])
    await holding(here, 'again')
    expect(await inService()).toHaveLength(3)
    expect((await desk.docmount('unmount', two)).code).toBe(0)
    expect(await inService()).toEqual(['a.csv'])
  })

  test('through WebDAV is the mounted drive’s, too, and the other way round', async () => {
    await desk.testService.other.put('/a.csv', 'a,b')
    const one = await desk.mount('one', '--share-locks')
    const { baseUrl, apiKey } = desk.testService
    const folder = join(desk.home, 'webdav')
    const two = await startWebdavDrive({ folder, baseUrl, apiKey, args: ['--share-locks'] })
    try {
      const [mounted, name] = [join(one, '.~lock.a.csv#'), '/.~lock.a.csv%23']
      const status = async (method: string, body?: string, isNew = false): Promise<number> => {
        const headers = isNew ? { 'if-none-match': '*' } : {}
        return (await two.ask(method, name, { headers, ...(body === undefined ? {} : { body }) })).status
      }
      expect(await status('GET')).toBe(404)
      await holding(mounted, 'me,me,desk;')
      expect((await two.ask('GET', name)).text).toBe('me,me,desk;')
      expect((await two.ask('PROPFIND', '/', { headers: { depth: '1' } })).text).toContain(name)
      expect(await status('PUT', 'you', true)).toBe(412)
      await inDrive('rm', mounted)
      expect(await status('GET')).toBe(404)
      expect((await two.ask('PROPFIND', '/', { headers: { depth: '1' } })).text).not.toContain(name)

      expect(await status('PUT', 'you,you,client;', true)).toBe(201)
      expect(await inService()).toHaveLength(3)
      expect((await inDrive('cat', mounted)).stdout).toBe('you,you,client;')
      expect((await inDrive('ls', '-A', one)).stdout).toBe('.~lock.a.csv#\na.csv\n')
      expect((await inDrive('bash', '-c', 'set -C; echo me > "$1"', 'bash', mounted)).stderr).toContain(
        'cannot overwrite',
      )
      expect(await status('DELETE')).toBe(204)
      expect(await inService()).toEqual(['a.csv'])
      await holding(mounted, 'me')

      await inDrive('rm', mounted)
      expect(await status('PUT', 'you', true)).toBe(201)
      await two.docmount(['unmount', two.url])
      expect(await two.ended).toBe(0)
      expect(await inService()).toEqual(['a.csv'])
    } finally {
      await two.remove()
    }
  })

  test('is gone when its drive is unmounted, and after a kill when it is mounted again', async () => {
    const [one, two] = await twoDrives()
    await ended(await holding(join(one, '.~lock.a.csv#'), 'me'))
    expect(await inService()).toHaveLength(3)
    expect((await desk.docmount('unmount', one)).code).toBe(0)
    expect(await inService()).toEqual(['a.csv'])
    expect((await inDrive('ls', '-A', two)).stdout).toBe('a.csv\n')
    await desk.mount('one', '--share-locks')
    await ended(await holding(join(one, '.~lock.a.csv#'), 'me'))
    await desk.kill(one)
    await desk.docmount('unmount', one)
    expect((await inDrive('cat', join(two, '.~lock.a.csv#'))).stdout).toBe('me')
    await desk.mount('one', '--share-locks')
    await waitUntil('no lock', async () => (await inService()).join() === 'a.csv')
    expect((await inDrive('ls', '-A', one)).stdout).toBe('a.csv\n')
  })

  test('goes with `rm -r` of its folder', async () => {
    await desk.testService.other.put('/in/b.csv', 'a,b')
    const [one, two] = await twoDrives()
    await holding(join(one, 'in', '.~lock.b.csv#'), 'me')
    expect(await inDrive('rm', '-r', join(two, 'in'))).toMatchObject({ code: 0, stderr: '' })
    await desk.docmount('wait', two)
    expect(await inService()).toEqual(['a.csv'])
  })

  test('is set in config.json, too', async () => {
    await mkdir(join(desk.home, '.config/docmount'), { recursive: true })
    const config = { projects: { acme: { share_locks: true } } }
    await writeFile(join(desk.home, '.config/docmount/config.json'), JSON.stringify(config), { mode: 0o600 })
    const one = await desk.mount('one')
    await holding(join(one, '.~lock.a.csv#'), 'me')
    expect(await inService()).toHaveLength(2)
  })

  test.skipIf(!hasOffice)('keeps a second LibreOffice from editing, and says who has it open', async () => {
    await run('soffice', [
      '--headless',
      `-env:UserInstallation=file://${desk.home}/converting`,
      '--convert-to',
      'xlsx',
      '--outdir',
      desk.home,
      await madeCsv(),
    ])
    const [one, two] = await twoDrives()
    await inDrive('cp', join(desk.home, 'cells.xlsx'), one)
    await desk.docmount('refresh', two)
    const anna = await office('anna', join(one, 'cells.xlsx'))
    expect(JSON.parse(anna.line)).toEqual({ asked: 0, isReadOnly: false })
    const lock = (await inDrive('cat', join(two, '.~lock.cells.xlsx#'))).stdout
    expect(lock).toMatch(/^[^,]*,[^,]*,anna,/)
    const bert = await office('bert', join(two, 'cells.xlsx'))
    expect(JSON.parse(bert.line)).toEqual({ asked: 1, isReadOnly: true })
    await ended(bert.program)
    expect((await inDrive('cat', join(one, '.~lock.cells.xlsx#'))).stdout).toBe(lock)
    await ended(anna.program)
    expect(await inService()).toEqual(['a.csv', 'cells.xlsx'])
  })
})

async function madeCsv(): Promise<string> {
  const file = join(desk.home, 'cells.csv')
  await writeFile(file, 'a,b\n1,2\n')
  return file
}

function office(host: string, document: string): ReturnType<typeof begin> {
  const script = join(import.meta.dirname, '../support/libreoffice.py')
  return begin('timeout', '100', python, script, host, desk.home, document)
}
