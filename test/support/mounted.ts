// A drive mounted by docmount in a process of its own, the way a user mounts one.

import { spawn, type ChildProcess } from 'node:child_process'
import { chown, mkdir, readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'

import type { MountStatus } from '../../src/daemon/control-protocol.ts'
import { socketOf, statusOf } from './ask-daemon.ts'
import { cli } from './cli.ts'
import { homeIn } from './home.ts'
import { run, type Ran, type User } from './run.ts'
import { project, type TestService } from './service.ts'
import { waitUntil } from './wait-until.ts'

export interface MountedDrive {
  readonly mountpoint: string
  readonly pid: number
  /** Everything the daemon said so far. */
  log(): string
  status(): Promise<MountStatus>
  /** Runs another docmount command with the drive's environment. */
  docmount(args: readonly string[], options?: { mayFail?: boolean; limitMs?: number }): Promise<Ran>
  /** `docmount unmount`; lazily by force where that fails. Throws, after cleaning up, when it did not end well. */
  unmount(): Promise<void>
  /** Unmounts although something may be unsent. */
  end(): Promise<void>
}

export interface MountedDriveOptions {
  readonly testService: TestService
  /** Default: the service's own. */
  readonly baseUrl?: string | undefined
  readonly driver: string
  /** For mountpoint, state, cache and socket. */
  readonly folder: string
  /** Mounts and runs every command as this user, who owns `folder`; default: who runs the test. */
  readonly user?: User | undefined
  /** A command that runs the daemon, its arguments being the daemon's command line. */
  readonly within?: readonly string[] | undefined
  /** More arguments for `docmount mount`. */
  readonly args?: readonly string[]
  /** As users have it: the waits of many closes overlap. */
  readonly hasDefaultCloseWait?: boolean
}

/** Mounts the project and resolves when the drive answers. Throws with the daemon's log when it does not. */
export async function mountDrive(options: MountedDriveOptions): Promise<MountedDrive> {
  const { testService, driver, folder, user, args = [] } = options
  const mountpoint = join(folder, 'drive')
  for (const path of [mountpoint, join(folder, 'run')]) {
    await mkdir(path, { recursive: true, mode: 0o700 })
    if (user !== undefined) await chown(path, user.uid, user.gid)
  }
  const env = {
    ...homeIn(folder),
    DOCMOUNT_API_KEY: testService.apiKey,
  }
  const [program = process.execPath, ...before] = options.within ?? []
  const daemon = spawn(
    program,
    [
      ...(options.within === undefined ? [] : [...before, process.execPath]),
      cli,
      'mount',
      project,
      mountpoint,
      '--base-url',
      options.baseUrl ?? testService.baseUrl,
      '--driver',
      driver,
      '--foreground',
      // Tests look at the service right after a close: where a number is given, every close waits.
      ...(options.hasDefaultCloseWait === true || args.includes('--close-wait')
        ? []
        : ['--close-wait', '10s']),
      ...args,
    ],
    { cwd: '/', env, stdio: ['ignore', 'pipe', 'pipe'], ...user },
  )
  let log = ''
  daemon.stdout.on('data', (chunk: Buffer) => (log += chunk.toString()))
  daemon.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()))

  async function cleanUp(): Promise<void> {
    // By force: a daemon that waits for its own answer is freed by the end of its connection alone.
    if (await isMounted(mountpoint)) await run('umount', ['-f', '-l', mountpoint], { mayFail: true })
    daemon.kill('SIGKILL')
  }

  try {
    await waitUntil(`${mountpoint} to be mounted`, async () => {
      if (hasEnded(daemon)) throw new Error('docmount mount ended')
      return isMounted(mountpoint)
    })
    await run('timeout', ['20', 'stat', mountpoint], { user })
  } catch (error) {
    await cleanUp()
    throw new Error(`the drive did not come up: ${(error as Error).message}\n${log}`, { cause: error })
  }

  const docmount: MountedDrive['docmount'] = (arguments_, runOptions) =>
    run(process.execPath, [cli, ...arguments_], { env, user, ...runOptions })

  return {
    mountpoint,
    pid: daemon.pid ?? 0,
    log: () => log,
    status: async () => statusOf(await socketOf(folder)),
    docmount,
    async end() {
      await docmount(['unmount', mountpoint, '--timeout', '1s'], { mayFail: true })
      await waitUntil('the daemon to end', () => hasEnded(daemon))
    },
    async unmount() {
      try {
        await docmount(['unmount', mountpoint])
        await waitUntil('the daemon to end', () => hasEnded(daemon))
        if (await isMounted(mountpoint)) throw new Error(`${mountpoint} is still mounted`)
        if (daemon.exitCode !== 0)
          throw new Error(`the daemon ended with ${daemon.exitCode ?? daemon.signalCode}`)
      } catch (error) {
        const holders = await holdersOf(mountpoint)
        throw new Error(`${(error as Error).message}\n${holders}${log}`, { cause: error })
      } finally {
        await cleanUp()
      }
    },
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

/** Read from the kernel's table: a wedged drive would not answer a stat. Test folders need no unescaping. */
async function isMounted(mountpoint: string): Promise<boolean> {
  const table = await readFile('/proc/self/mounts', 'utf8')
  return table.split('\n').some((line) => line.split(' ')[1] === mountpoint)
}

/** Processes whose mount namespace has the drive, a line each: as long as one has, the kernel does not let go of it. */
async function holdersOf(mountpoint: string): Promise<string> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const read = (pid: string, name: string): Promise<string> =>
    readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '')
  const lines = await Promise.all(
    pids.map(async (pid) =>
      (await read(pid, 'mounts')).includes(` ${mountpoint} `)
        ? `held by ${pid}: ${(await read(pid, 'cmdline')).replaceAll('\0', ' ')}\n`
        : '',
    ),
  )
  return lines.join('')
}
