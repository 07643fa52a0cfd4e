// A drive whose daemon can be killed at any time and started again on the same state.

import { spawn, type ChildProcess } from 'node:child_process'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { cli } from './cli.ts'
import { ask } from '../../src/daemon/control-client.ts'
import type { MountStatus } from '../../src/daemon/control-protocol.ts'
import type { Unsent } from '../../src/fs/status.ts'
import { startAgent, type Agent } from './agent.ts'
import { socketOf, statusOf } from './ask-daemon.ts'
import type { Calls } from './door.ts'
import { folderDoor } from './folder-door.ts'
import { homeIn } from './home.ts'
import { run, type Ran } from './run.ts'
import { project } from './service.ts'
import { waitUntil } from './wait-until.ts'

export interface CrashingDriveOptions {
  /** For mountpoint, state, cache and socket. */
  readonly folder: string
  readonly baseUrl: string
  readonly apiKey: string
  /** More arguments for `docmount mount`. */
  readonly args?: readonly string[]
  readonly env?: NodeJS.ProcessEnv
}

export interface CrashingDrive {
  readonly mountpoint: string
  readonly pid: number
  /** The drive's files; every call in a process of its own. */
  readonly calls: Calls
  readonly log: () => string
  /** True once the daemon was killed, or has ended on its own. */
  readonly hasEnded: () => boolean
  readonly status: () => Promise<MountStatus>
  readonly unsent: (path?: string) => Promise<readonly Unsent[]>
  /** Sends all changes at once, and waits until the drive has none unsent. Rejects after `limitMs`. */
  readonly drain: (limitMs?: number) => Promise<void>
  /** Starts sending changes at `path` that the drive delays on purpose; does not wait until they are sent. */
  readonly runNow: (path: string) => Promise<void>
  readonly docmount: (
    args: readonly string[],
    options?: { mayFail?: boolean; limitMs?: number },
  ) => Promise<Ran>
  /** Kills the daemon (SIGKILL). The dead mount stays, as after a crash. */
  readonly kill: () => Promise<void>
  /** Ends the drive by `docmount unmount`; throws if that fails. */
  readonly unmount: () => Promise<void>
  /** Kills the daemon if it still runs, and detaches the mount. */
  readonly remove: () => Promise<void>
}

/** Mounts, and resolves when the drive answers. A dead mount at the mountpoint is left for docmount to clear. */
export async function startCrashingDrive(options: CrashingDriveOptions): Promise<CrashingDrive> {
  const { folder, baseUrl, apiKey, args = [] } = options
  const mountpoint = join(folder, 'drive')
  await mkdir(mountpoint).catch(() => {})
  await mkdir(join(folder, 'run'), { recursive: true, mode: 0o700 })
  const env = {
    ...homeIn(folder),
    ...(apiKey === '' ? {} : { DOCMOUNT_API_KEY: apiKey }),
    ...options.env,
  }
  const command = [
    cli,
    'mount',
    project,
    mountpoint,
    '--base-url',
    baseUrl,
    '--driver',
    'kernel',
    '--foreground',
  ]
  const daemon = spawn(process.execPath, [...command, ...args], {
    cwd: '/',
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let log = ''
  let isKilled = false
  daemon.stdout.on('data', (chunk: Buffer) => (log += chunk.toString()))
  daemon.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()))
  let agent: Agent | undefined
  const lazyAgent: Agent = {
    call: (name, ...values) => (agent ??= startAgent()).call(name, ...values),
    stop: () => agent?.stop(),
  }

  async function remove(): Promise<void> {
    lazyAgent.stop()
    daemon.kill('SIGKILL')
    await waitUntil('the daemon to end', () => hasEnded(daemon))
    if (await isMounted(mountpoint)) await run('umount', ['-l', mountpoint], { mayFail: true })
  }

  try {
    await waitUntil(`${mountpoint} to be live`, () => {
      if (hasEnded(daemon)) throw new Error('docmount mount ended')
      return log.includes('is mounted at')
    })
  } catch (error) {
    await remove()
    throw new Error(`the drive did not come up: ${(error as Error).message}\n${log}`, { cause: error })
  }
  const socketPath = await socketOf(folder)

  return {
    mountpoint,
    pid: daemon.pid ?? 0,
    calls: folderDoor('kernel', mountpoint, lazyAgent),
    log: () => log,
    hasEnded: () => isKilled || hasEnded(daemon),
    status: () => statusOf(socketPath),
    async unsent(path = '/') {
      return (await ask(socketPath, 'status', { path })).unsent
    },
    async drain(limitMs = 100_000) {
      await ask(socketPath, 'wait', { path: '/', timeoutMs: limitMs })
    },
    async runNow(path) {
      await ask(socketPath, 'wait', { path, timeoutMs: 1 }).catch(() => {})
    },
    docmount: (arguments_, runOptions) => run(process.execPath, [cli, ...arguments_], { env, ...runOptions }),
    async kill() {
      isKilled = true
      daemon.kill('SIGKILL')
      await waitUntil('the daemon to end', () => hasEnded(daemon))
      lazyAgent.stop()
    },
    async unmount() {
      lazyAgent.stop()
      try {
        await run(process.execPath, [cli, 'unmount', mountpoint], { env })
      } catch (error) {
        throw new Error(`${(error as Error).message}\n${log}`, { cause: error })
      } finally {
        await remove()
      }
    },
    remove,
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

async function isMounted(mountpoint: string): Promise<boolean> {
  const table = await readFile('/proc/self/mounts', 'utf8')
  return table.split('\n').some((line) => line.split(' ')[1] === mountpoint)
}
