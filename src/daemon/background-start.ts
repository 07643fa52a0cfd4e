// Starting the daemon behind the command line. Node cannot fork, so the program starts itself anew, detached, and hears
// over an IPC channel whether the drive came up.

import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { DaemonError } from './daemon-error.ts'
import type { DoorName, WebdavAddress } from './session-door.ts'

/** Set in the environment of a daemon that has nobody at its terminal. */
export const backgroundVariable: string = 'DOCMOUNT_BACKGROUND'

const startTimeoutMs = 60_000
/** A longer timer would fire at once. */
const longestTimerMs = 2 ** 31 - 1

/** News from the daemon, once its start is decided. */
export type StartNews =
  | {
      readonly kind: 'live'
      readonly pid: number
      readonly mountpoint: string
      readonly driver: DoorName
      readonly webdav?: WebdavAddress | undefined
      /** Why the service cannot be asked: an older listing is shown. */
      readonly away?: string | undefined
    }
  | { readonly kind: 'failed'; readonly message: string; readonly exitCode: number }

export interface BackgroundOptions {
  /** The program's own file. */
  readonly script: string
  readonly args: readonly string[]
  /** Takes what the daemon prints outside its log: a crash's last words. */
  readonly logFile: string
  /** Passed on under its number. */
  readonly descriptor?: number | undefined
  /** Milliseconds the daemon may wait for the service before it begins. */
  readonly waitMs?: number | undefined
}

/** Resolves with the daemon's news; a daemon that stays silent is stopped. The key reaches it through the environment. */
export async function startInBackground(options: BackgroundOptions): Promise<StartNews> {
  const fd = openSync(options.logFile, 'a', 0o600)
  const child = spawn(process.execPath, [options.script, ...options.args], {
    detached: true,
    stdio: ['ignore', fd, fd, ...channels(options.descriptor)],
    env: { ...process.env, [backgroundVariable]: '1' },
  })
  closeSync(fd)
  const stopChild = (): void => {
    child.kill('SIGTERM')
  }
  process.once('SIGINT', stopChild).once('SIGTERM', stopChild)
  try {
    return await hear(child, options.logFile, startTimeoutMs + (options.waitMs ?? 0))
  } finally {
    process.off('SIGINT', stopChild).off('SIGTERM', stopChild)
    if (child.connected) child.disconnect()
    child.unref()
  }
}

/** From number 3 on: the way back to us, and the descriptor at its place. */
function channels(descriptor: number | undefined): ('ipc' | 'ignore' | number)[] {
  if (descriptor === undefined) return ['ipc']
  if (descriptor === 3) return [descriptor, 'ipc']
  const between = Array.from({ length: descriptor - 4 }, () => 'ignore' as const)
  return ['ipc', ...between, descriptor]
}

function hear(child: ChildProcess, logFile: string, limitMs: number): Promise<StartNews> {
  return new Promise((heard, failed) => {
    const timer = setTimeout(
      () => {
        child.kill('SIGTERM')
        failed(new DaemonError(`the drive did not come up within ${limitMs / 1000} s; see ${logFile}`))
      },
      Math.min(limitMs, longestTimerMs),
    )
    child.once('message', (news) => {
      clearTimeout(timer)
      heard(news as StartNews)
    })
    child.once('error', (error) => {
      clearTimeout(timer)
      failed(new DaemonError(`the daemon cannot be started: ${error.message}`, { cause: error }))
    })
    child.once('exit', (code, signal) => {
      clearTimeout(timer)
      failed(new DaemonError(`the daemon ended while starting (${signal ?? `exit ${code}`}); see ${logFile}`))
    })
  })
}

/** Tells the waiting command line, unless there is none or it has ended. */
export function tellStarter(news: StartNews): Promise<void> {
  return new Promise((told) => {
    if (process.send === undefined || !process.connected) {
      told()
      return
    }
    process.send(news, () => {
      if (process.connected) process.disconnect()
      told()
    })
  })
}
