// A user at a command line, with a home and a service of their own. Their drives are unmounted at the end.

import { spawn } from 'node:child_process'
import { mkdir, readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { cli } from './cli.ts'
import { isAlive, type MountRecord } from '../../src/daemon/mount-record.ts'
import { bareHomeIn } from './home.ts'
import { run, type Ran } from './run.ts'
import { project, startTestService, type TestService } from './service.ts'
import { makeTemporaryFolder } from './temporary-folder.ts'
import { waitUntil } from './wait-until.ts'

export interface Desk {
  readonly home: string
  readonly testService: TestService
  /** An empty folder in `home`, for a drive. */
  readonly drive: string
  /** Environment of every command; a test may replace it. */
  env: NodeJS.ProcessEnv
  docmount(...args: readonly string[]): Promise<Ran>
  /** Mounts the project at `home/name`; returns that path. Throws if the command fails or prints to standard error. */
  mount(name: string, ...args: readonly string[]): Promise<string>
  /** Saves a document in a process of its own. */
  save(path: string, text: string): Promise<Ran>
  /** Kills the daemon of a drive (SIGKILL), as a crash does. */
  kill(mountpoint: string): Promise<void>
  records(): Promise<readonly MountRecord[]>
  /** Returns the records whose daemons run. */
  living(): Promise<readonly MountRecord[]>
  close(): Promise<void>
}

export async function startDesk(): Promise<Desk> {
  const temporary = await makeTemporaryFolder()
  const testService = await startTestService()
  const home = temporary.path
  const drive = join(home, 'drive')
  for (const folder of [drive, join(home, 'run')]) await mkdir(folder)

  async function records(): Promise<readonly MountRecord[]> {
    const found: MountRecord[] = []
    for (const folder of [join(home, 'run', 'docmount'), join(home, '.local/state/docmount/run')])
      for (const name of await readdir(folder).catch(() => []))
        if (name.endsWith('.json'))
          found.push(JSON.parse(await readFile(join(folder, name), 'utf8')) as MountRecord)
    return found
  }

  async function living(): Promise<readonly MountRecord[]> {
    const found: MountRecord[] = []
    for (const record of await records()) if (await isAlive(record)) found.push(record)
    return found
  }

  const desk: Desk = {
    home,
    testService,
    drive,
    env: {
      ...bareHomeIn(home),
      DOCMOUNT_BASE_URL: testService.baseUrl,
      DOCMOUNT_API_KEY: testService.apiKey,
    },
    docmount: (...args) => run(process.execPath, [cli, ...args], { env: desk.env, mayFail: true }),
    async mount(name, ...args) {
      const mountpoint = join(home, name)
      await mkdir(mountpoint, { recursive: true })
      const { code, stderr } = await desk.docmount('mount', '--quiet', project, mountpoint, ...args)
      if (code !== 0 || stderr !== '') throw new Error(`mount: exit code ${code}: ${stderr}`)
      return mountpoint
    },
    save: (path, text) =>
      run('timeout', ['20', 'sh', '-c', 'printf %s "$2" > "$1"', 'sh', path, text], { mayFail: true }),
    async kill(mountpoint) {
      const record = (await records()).find((found) => found.mountpoint === mountpoint)
      if (record === undefined) throw new Error(`no drive at ${mountpoint}`)
      process.kill(record.pid, 'SIGKILL')
      await waitUntil('the daemon to end', async () => !(await isAlive(record)))
    },
    records,
    living,
    async close() {
      for (const { pid } of await living()) process.kill(pid, 'SIGKILL')
      const mounts = await readFile('/proc/self/mounts', 'utf8')
      for (const line of mounts.split('\n')) {
        const mountpoint = line.split(' ')[1] ?? ''
        if (mountpoint.startsWith(`${home}/`)) await run('umount', ['-l', mountpoint], { mayFail: true })
      }
      await testService.close()
      await temporary.remove()
    },
  }
  return desk
}

/** Runs a command that uses a drive, with a time limit, so that a drive that hangs does not hang the test. */
export function inDrive(...command: [string, ...string[]]): Promise<Ran> {
  return run('timeout', ['110', ...command], { mayFail: true })
}

/** Starts a program with its working folder in `folder`, which keeps a drive busy until `leave`. */
export async function occupy(folder: string): Promise<{ leave(): Promise<void> }> {
  const child = spawn('sh', ['-c', 'cd "$1" && echo in && exec sleep 60', 'sh', folder], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  await new Promise((there) => child.stdout.once('data', there))
  return {
    async leave() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = new Promise((end) => child.once('exit', end))
      child.kill('SIGKILL')
      await ended
    },
  }
}
