// `docmount ui` in a child process, and requests to it as from a browser.

import { spawn } from 'node:child_process'
import { request as send } from 'node:http'
import { cli } from './cli.ts'
import { waitUntil } from './wait-until.ts'
import type { User } from './run.ts'

/** Calls, codes, and names of changes in the journal. */
export const developersWords = /\bE[A-Z]{4,}\b|\b(?:GET|PUT|DELETE) \/|\breplace\b|errno/

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

export interface AskOptions {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Fields of a form, sent as the body. */
  readonly form?: Readonly<Record<string, string>>
}

export interface Page {
  /** URL as printed, with its token. */
  readonly address: string
  readonly port: number
  /** Opens the address; returns the session cookie. */
  enter(): Promise<string>
  ask(path: string, options?: AskOptions): Promise<Answer>
  /** Sends SIGINT; resolves with the exit code. */
  end(): Promise<number | null>
}

/** Starts it; resolves when it listens. By default it opens no browser. */
export async function startPage(
  env: NodeJS.ProcessEnv,
  args: readonly string[] = ['--no-open'],
  user?: User,
): Promise<Page> {
  const child = spawn(process.execPath, [cli, 'ui', ...args], {
    cwd: '/',
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...user,
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const ended = new Promise<number | null>((end) => child.once('exit', (code) => end(code)))
  await waitUntil('the page to be served', () => {
    if (child.exitCode !== null) throw new Error(`docmount ui ended: ${output}`)
    return output.startsWith('http') && output.includes('\n')
  })
  const address = output.split('\n')[0] ?? ''
  const { port, host } = new URL(address)

  function ask(path: string, { method = 'GET', headers = {}, form }: AskOptions = {}): Promise<Answer> {
    const body = form === undefined ? '' : new URLSearchParams(form).toString()
    return new Promise((resolve, reject) => {
      const request = send(
        { host: '127.0.0.1', port, path, method, agent: false, headers: { host, ...headers } },
        (response) => {
          let text = ''
          response.on('data', (chunk: Buffer) => (text += chunk.toString()))
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
          )
        },
      )
      request.on('error', reject)
      request.end(body)
    })
  }

  return {
    address,
    port: Number(port),
    ask,
    async enter() {
      const { headers } = await ask(address.slice(address.indexOf('/?')))
      return headers['set-cookie']?.[0]?.split(';')[0] ?? ''
    },
    end() {
      child.kill('SIGINT')
      return ended
    },
  }
}
