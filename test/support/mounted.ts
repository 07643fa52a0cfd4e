// A drive mounted by the `docmount` command in a child process, as users mount one.

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
  /** Returns the daemon's output so far. */
  log(): string
  status(): Promise<MountStatus>
  /** Runs another docmount command with the drive's environment. */
  docmount(args: readonly string[], options?: { mayFail?: boolean; limitMs?: number }): Promise<Ran>
  /** Runs `docmount unmount`. If that fails, detaches the mount, kills the daemon, and throws. */
  unmount(): Promise<void>
  /** Unmounts, even with unsent changes. */
  end(): Promise<void>
}

export interface MountedDriveOptions {
  readonly testService: TestService
  /** Default: that of `testService`. */
  readonly baseUrl?: string | undefined
  readonly driver: string
  /** Folder for mountpoint, state, cache and socket. */
  readonly folder: string
  /** Runs the daemon and all commands as this user, who owns `folder`; default: the test's user. */
  readonly user?: User | undefined
  /** A command, such as nsenter, that runs the daemon: the daemon's command line is appended. */
  readonly within?: readonly string[] | undefined
  /** More arguments for `docmount mount`. */
  readonly args?: readonly string[]
  /** True: mounts without `--close-wait`, as users do, so that the waits of many closes overlap. */
  readonly hasDefaultCloseWait?: boolean
}

/** Mounts the project; resolves when the drive answers. Throws with the daemon's log if it does not come up. */
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
      // With an explicit value every close waits, so that tests find the document in the service right after.
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
    // `-f`, because a daemon that waits for its own mount only continues when the FUSE connection is aborted.
    if (await isMounted(mountpoint)) await run('umount', ['-f', '-l', mountpoint], { mayFail: true })
    daemon.kill('SIGKILL')
  }

  try {
    await waitUntil(`${mountpoint} to be mounted`, async () => {
      if (hasEnded(daemon)) throw new Error('docmount mount ended')
      return isMounted(mountpoint)
    })
    await run('timeout', ['200', 'stat', mountpoint], { user })
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

/** Reads only the mount table, since a drive that hangs would block a stat. Test folders need no unescaping. */
async function isMounted(mountpoint: string): Promise<boolean> {
  const table = await readFile('/proc/self/mounts', 'utf8')
  return table.split('\n').some((line) => line.split(' ')[1] === mountpoint)
}

/** Returns a line for each process whose mount namespace contains the drive, because each of them keeps it mounted. */
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
