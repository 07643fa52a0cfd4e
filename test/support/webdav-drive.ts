// A drive that docmount serves by WebDAV in a child process, which can be killed and started again on the same state.

import { spawn, type ChildProcess } from 'node:child_process'
import { mkdir, readFile } from 'node:fs/promises'
import { request as send } from 'node:http'
import { join } from 'node:path'

import { cli } from './cli.ts'
import type { MountStatus } from '../../src/daemon/control-protocol.ts'
import type { DriverName } from '../../src/fuse/driver.ts'
import { homeIn } from './home.ts'
import { run, type Ran } from './run.ts'
import { project } from './service.ts'
import { waitUntil } from './wait-until.ts'

export interface WebdavDriveOptions {
  /** Folder for state, cache, socket, and the mountpoint if there is one. */
  readonly folder: string
  readonly baseUrl: string
  readonly apiKey: string
  /** True: also mounts the drive, at `folder`/drive. */
  readonly isMounted?: boolean
  /** Driver of that mount; default: kernel. */
  readonly driver?: DriverName
  readonly args?: readonly string[]
}

export interface WebdavDrive {
  /** Without a slash at the end. */
  readonly url: string
  readonly user: string
  readonly password: string
  readonly pid: number
  readonly mountpoint: string
  /** Sends one WebDAV request, with the drive's credentials. */
  ask(method: string, path: string, options?: AskOptions): Promise<{ status: number; text: string }>
  docmount(args: readonly string[], options?: { mayFail?: boolean; limitMs?: number }): Promise<Ran>
  status(): Promise<MountStatus>
  signal(name: NodeJS.Signals): void
  /** Resolves with the daemon's exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>
  log(): string
  /** Kills the daemon if it still runs, and detaches the mount. */
  remove(): Promise<void>
}

export interface AskOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

/** Starts the daemon in the foreground; resolves when it serves. */
export async function startWebdavDrive(options: WebdavDriveOptions): Promise<WebdavDrive> {
  const { folder, baseUrl, apiKey, isMounted = false, driver = 'kernel', args = [] } = options
  const mountpoint = join(folder, 'drive')
  await mkdir(join(folder, 'run'), { recursive: true, mode: 0o700 })
  // Fails at a dead mount of an earlier start, which docmount clears.
  if (isMounted) await mkdir(mountpoint).catch(() => {})
  const env = {
    ...homeIn(folder),
    DOCMOUNT_BASE_URL: baseUrl,
    DOCMOUNT_API_KEY: apiKey,
  }
  const command = isMounted
    ? ['mount', project, mountpoint, '--driver', driver, '--webdav', '127.0.0.1:0']
    : ['webdav', project, '--listen', '127.0.0.1:0']
  const daemon = spawn(process.execPath, [cli, ...command, '--foreground', ...args], {
    cwd: '/',
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let log = ''
  daemon.stdout.on('data', (chunk: Buffer) => (log += chunk.toString()))
  daemon.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()))
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
    daemon.once('exit', (code, signal) => resolve(code ?? signal))
  })

  async function remove(): Promise<void> {
    daemon.kill('SIGKILL')
    await ended
    const table = await readFile('/proc/self/mounts', 'utf8')
    if (table.includes(` ${mountpoint} `)) await run('umount', ['-l', mountpoint], { mayFail: true })
  }

  try {
    await waitUntil('the drive to be live', () => {
      if (hasEnded(daemon)) throw new Error('docmount ended')
      return /password +in \S+\n/.test(log)
    })
  } catch (error) {
    await remove()
    throw new Error(`the drive did not come up: ${(error as Error).message}\n${log}`, { cause: error })
  }
  const printedValue = (name: string): string => new RegExp(`${name} +(?:in )?(\\S+)`).exec(log)?.[1] ?? ''
  const url = printedValue('address').replace(/\/$/, '')
  const user = printedValue('user')
  const password = (await readFile(printedValue('password'), 'utf8')).trim()

  const docmount: WebdavDrive['docmount'] = (arguments_, runOptions) =>
    run(process.execPath, [cli, ...arguments_], { env, ...runOptions })
  return {
    url,
    user,
    password,
    pid: daemon.pid ?? 0,
    mountpoint,
    ask: (method, path, { headers, body } = {}) =>
      new Promise((resolve, reject) => {
        const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
        const request = send(
          `${url}${path}`,
          { method, agent: false, headers: { authorization, ...headers } },
          (response) => {
            let text = ''
            response.on('data', (chunk: Buffer) => (text += chunk.toString()))
            response.on('error', reject)
            response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
          },
        )
        request.on('error', reject)
        request.end(body)
      }),
    docmount,
    async status() {
      const { stdout } = await docmount(['status', isMounted ? mountpoint : url, '--json'])
      return JSON.parse(stdout) as MountStatus
    },
    signal: (name) => {
      daemon.kill(name)
    },
    ended,
    log: () => log,
    remove,
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}
