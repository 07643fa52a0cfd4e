// scripts/setup in a copy of the project whose npm and Node.js are small stand-ins: what it decides, not what npm does.
// Its work on a bare system was tried by hand: native-deps.md says where.

import { chmod, copyFile, mkdir, readFile, readlink, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { whyNoFuse } from '../support/fuse.ts'
import { isInstalled, run, type Ran } from '../support/run.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

const root = new URL('../..', import.meta.url).pathname
/** Where it would install packages or stop, it is not run. */
const why = whyNoFuse() ?? (isInstalled('fusermount3') ? undefined : 'fusermount3 is not installed')

describe.skipIf(why !== undefined)(`scripts/setup${why === undefined ? '' : ` (${why})`}`, () => {
  let folder: TemporaryFolder
  let programs: string

  beforeEach(async () => {
    folder = await makeTemporaryFolder()
    programs = join(folder.path, 'programs')
    for (const name of ['scripts', 'src', 'programs']) await mkdir(join(folder.path, name))
    await copyFile(join(root, 'scripts', 'setup'), join(folder.path, 'scripts', 'setup'))
    for (const name of ['package.json', 'package-lock.json', 'tsconfig.json']) {
      await writeFile(join(folder.path, name), '{}')
    }
    await writeFile(join(folder.path, 'src', 'a.ts'), '')
    // npm's two jobs, noted in a file.
    await program(
      'npm',
      `echo "$1" >> calls
       case "$1" in
         ci) rm -rf node_modules; mkdir node_modules ;;
         run) mkdir -p dist/cli; : > dist/cli/main.js ;;
       esac`,
    )
    await symlink(process.execPath, join(programs, 'node'))
  })

  afterEach(() => folder.remove())

  async function program(name: string, lines: string): Promise<void> {
    const file = join(programs, name)
    await rm(file, { force: true })
    await writeFile(file, `#!/bin/sh\n${lines}\n`)
    await chmod(file, 0o755)
  }

  function setup(...args: string[]): Promise<Ran> {
    const env = {
      ...process.env,
      PATH: `${programs}:${bin()}:${process.env['PATH']}`,
      DOCMOUNT_BIN_DIR: bin(),
      // The large programs and engines are not what this is about.
      DOCMOUNT_ALL: '',
    }
    return run(join(folder.path, 'scripts', 'setup'), args, { env, mayFail: true })
  }

  /** Where the command is put. */
  const bin = (): string => join(folder.path, 'bin')

  /** Commands that npm was given since the last look. */
  async function calls(): Promise<string[]> {
    const file = join(folder.path, 'calls')
    const text = await readFile(file, 'utf8').catch(() => '')
    await rm(file, { force: true })
    return text.split('\n').filter((line) => line !== '')
  }

  test('installs and builds once, then says in one line that there is nothing to do', async () => {
    expect(await setup()).toMatchObject({ code: 0, stdout: expect.stringMatching(/setup: ready\n$/) })
    expect(await calls()).toEqual(['ci', 'run'])
    expect(await setup()).toEqual({ code: 0, stdout: 'setup: nothing to do\n', stderr: '' })
    expect(await calls()).toEqual([])
  })

  test('installs again when package-lock.json changed', async () => {
    await setup()
    await writeFile(join(folder.path, 'package-lock.json'), '{ "changed": true }')
    await calls()
    expect((await setup()).code).toBe(0)
    expect(await calls()).toContain('ci')
  })

  test('builds again when a source is newer, and only then', async () => {
    await setup()
    await calls()
    const later = Date.now() / 1000 + 60
    await utimes(join(folder.path, 'src', 'a.ts'), later, later)
    expect((await setup()).stdout).toContain('building')
    expect(await calls()).toEqual(['run'])
  })

  test('builds again when dist is gone', async () => {
    await setup()
    await calls()
    await rm(join(folder.path, 'dist'), { recursive: true })
    await setup()
    expect(await calls()).toEqual(['run'])
  })

  test('stops with what to do when Node.js is too old', async () => {
    await program('node', 'case "$1" in --version) echo v18.20.0 ;; *) exit 1 ;; esac')
    const { code, stderr } = await setup()
    expect(code).toBe(1)
    expect(stderr).toBe(
      'setup: Node.js 20.19 or newer is needed, this is v18.20.0: see https://nodejs.org/en/download\n',
    )
  })

  test('shows what npm said when it fails, and does not take it for installed', async () => {
    await program('npm', 'echo "no network" >&2; exit 1')
    const { code, stderr } = await setup()
    expect(code).toBe(1)
    expect(stderr).toContain('no network')
    expect((await setup()).code).toBe(1)
  })

  test('puts the command on the PATH, says where, and finds it there the next time', async () => {
    expect((await setup()).stdout).toContain(`setup: the command docmount is ${bin()}/docmount\n`)
    expect(await readlink(join(bin(), 'docmount'))).toBe(join(folder.path, 'dist', 'cli', 'main.js'))
    expect((await setup()).stdout).toBe('setup: nothing to do\n')
  })

  test('leaves another program of that name alone', async () => {
    await mkdir(bin())
    await writeFile(join(bin(), 'docmount'), 'theirs')
    expect((await setup()).stdout).toContain(`${bin()}/docmount is another program`)
    expect(await readFile(join(bin(), 'docmount'), 'utf8')).toBe('theirs')
  })

  test('leaves the command to npm where it is told to', async () => {
    expect((await setup('--no-command')).code).toBe(0)
    await expect(readlink(join(bin(), 'docmount'))).rejects.toThrow('ENOENT')
  })

  test('takes the command over from another clone, and leaves it there for tests', async () => {
    await mkdir(bin())
    await symlink('/elsewhere/dist/cli/main.js', join(bin(), 'docmount'))
    await setup('--tests')
    expect(await readlink(join(bin(), 'docmount'))).toBe('/elsewhere/dist/cli/main.js')
    await setup()
    expect(await readlink(join(bin(), 'docmount'))).toBe(join(folder.path, 'dist', 'cli', 'main.js'))
  })

  test("asks for fuse-native's library where tests are to run, and for nobody else", async () => {
    await program(
      'npm',
      `case "$1" in
         ci) rm -rf node_modules; mkdir -p node_modules/fuse-native
             echo 'throw new Error("libfuse.so.2: cannot open")' >node_modules/fuse-native/index.js ;;
         run) mkdir -p dist/cli; : > dist/cli/main.js ;;
       esac`,
    )
    // An ordinary user's sudo that wants a password, and root's apt-get.
    await program('sudo', 'exit 1')
    await program('apt-get', 'echo "$*" >>calls')
    await program('apt-cache', 'echo libfuse2t64')
    expect((await setup()).stdout).not.toContain('libfuse')
    expect(await setup()).toEqual({ code: 0, stdout: 'setup: nothing to do\n', stderr: '' })
    expect(await calls()).toEqual([])
    expect((await setup('--tests')).stdout).toContain('libfuse')
  })

  test('refuses words it does not know', async () => {
    expect(await setup('--force')).toMatchObject({
      code: 2,
      stderr: 'usage: scripts/setup [--tests | --no-command]\n',
    })
  })
})
