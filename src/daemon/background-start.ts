// Starting the daemon in the background. Node cannot fork, so the command runs its own program again, detached, which reports
// over an IPC channel how the start went.

import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { DaemonError } from './daemon-error.ts'
import type { DoorName, WebdavAddress } from './session-door.ts'

/** Environment variable that is set in a daemon without a terminal. */
export const backgroundVariable: string = 'DOCMOUNT_BACKGROUND'

const startTimeoutMs = 60_000
/** Longest delay of a Node timer; a longer one fires at once. */
const longestTimerMs = 2 ** 31 - 1

/** Message of the daemon about its start, successful or not. */
export type StartNews =
  | {
      readonly kind: 'live'
      readonly pid: number
      readonly mountpoint: string
      readonly driver: DoorName
      readonly webdav?: WebdavAddress | undefined
      /** Address of its page, with `mount --ui`. */
      readonly page?: string | undefined
      /** Reason why the service cannot be reached, so that older listings are shown. */
      readonly away?: string | undefined
    }
  | { readonly kind: 'failed'; readonly message: string; readonly exitCode: number }

export interface BackgroundOptions {
  /** Path of the program's script. */
  readonly script: string
  readonly args: readonly string[]
  /** File for the daemon's standard output and error: messages of a crash. */
  readonly logFile: string
  /** A descriptor that the daemon inherits under the same number. */
  readonly descriptor?: number | undefined
  /** Milliseconds that the daemon may wait for the service before it starts. */
  readonly waitMs?: number | undefined
}

/**
 * Resolves with the daemon's message. A daemon that sends none in time is stopped: DaemonError. The daemon gets the API key
 * through the environment.
 */
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
  // The detached daemon gets no Ctrl-C of this terminal.
  process.once('SIGINT', stopChild).once('SIGTERM', stopChild)
  try {
    return await readNews(child, options.logFile, startTimeoutMs + (options.waitMs ?? 0))
  } finally {
    process.off('SIGINT', stopChild).off('SIGTERM', stopChild)
    if (child.connected) child.disconnect()
    child.unref()
  }
}

/** `stdio` from number 3 on: the IPC channel, and the descriptor under its own number. */
function channels(descriptor: number | undefined): ('ipc' | 'ignore' | number)[] {
  if (descriptor === undefined) return ['ipc']
  if (descriptor === 3) return [descriptor, 'ipc']
  const between = Array.from({ length: descriptor - 4 }, () => 'ignore' as const)
  return ['ipc', ...between, descriptor]
}

function readNews(child: ChildProcess, logFile: string, limitMs: number): Promise<StartNews> {
  return new Promise((resolve, failed) => {
    const timer = setTimeout(
      () => {
        child.kill('SIGTERM')
        failed(new DaemonError(`the drive did not come up within ${limitMs / 1000} s; see ${logFile}`))
      },
      Math.min(limitMs, longestTimerMs),
    )
    child.once('message', (news) => {
      clearTimeout(timer)
      resolve(news as StartNews)
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

/** Sends the message to the waiting command, if there is one that still runs. */
export function notifyStarter(news: StartNews): Promise<void> {
  return new Promise((done) => {
    if (process.send === undefined || !process.connected) {
      done()
      return
    }
    process.send(news, () => {
      if (process.connected) process.disconnect()
      done()
    })
  })
}
