// The built reference service in a child process, which can be ended or killed, and started again.

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

import { cli } from './cli.ts'
import { project } from './service.ts'

export interface ServiceProcess {
  readonly port: number
  readonly apiKey: string
  /** Sends the signal; resolves when the process has ended. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>
  /** Starts it again on the same port, with the same data; does nothing if it runs. */
  start(): Promise<void>
}

/** Starts it with an empty project and its data in `folder`. `accessLog`: path of the access log. */
export async function startServiceProcess(folder: string, accessLog: string): Promise<ServiceProcess> {
  let child: ChildProcess | undefined
  let apiKey = ''
  let port = 0

  async function start(): Promise<void> {
    if (child !== undefined) return
    const args = ['serve', '--listen', `127.0.0.1:${port}`, '--json', '--data', folder, '--project', project]
    const started = spawn(process.execPath, [cli, ...args, '--access-log', accessLog, '--drain', '1s'], {
      cwd: '/',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let log = ''
    started.stderr.on('data', (chunk: Buffer) => (log = (log + chunk.toString()).slice(-10_000)))
    const ended = once(started, 'close').then(() => undefined)
    const first = await Promise.race([once(createInterface(started.stdout), 'line'), ended])
    if (first === undefined) throw new Error(`the service ended at once: ${log}`)
    const announcement = JSON.parse(first[0] as string) as {
      base_url: string
      projects: readonly { api_key?: string }[]
    }
    port = Number(new URL(announcement.base_url).port)
    apiKey = announcement.projects[0]?.api_key ?? apiKey
    child = started
  }

  await start()
  return {
    get port() {
      return port
    },
    apiKey,
    start,
    async end(signal) {
      const running = child
      if (running === undefined) return
      child = undefined
      const ended = once(running, 'close')
      running.kill(signal)
      await ended
    },
  }
}
