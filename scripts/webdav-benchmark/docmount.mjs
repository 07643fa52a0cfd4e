// `docmount webdav` as a process of its own, in front of a service.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const main = new URL('../../dist/cli/main.js', import.meta.url).pathname

export async function startDocmount(folder, { baseUrl, key }) {
  const home = join(folder, 'home')
  mkdirSync(join(home, 'run'), { recursive: true, mode: 0o700 })
  const env = {
    ...process.env,
    HOME: home,
    XDG_RUNTIME_DIR: join(home, 'run'),
    XDG_STATE_HOME: join(home, 'state'),
    XDG_CACHE_HOME: join(home, 'cache'),
    DOCMOUNT_BASE_URL: baseUrl,
    DOCMOUNT_API_KEY: key,
  }
  const args = ['webdav', 'bench', '--listen', '127.0.0.1:0', '--foreground', '--no-notify']
  const child = spawn(process.execPath, [main, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  for await (const chunk of child.stdout) {
    text += chunk
    if (/password +in \S+\n/.test(text)) break
  }
  const passwordFile = /password +in (\S+)/.exec(text)?.[1]
  if (passwordFile === undefined) throw new Error(`docmount webdav did not start: ${text}`)
  const password = readFileSync(passwordFile, 'utf8').trim()
  return {
    port: Number(/:(\d+)\//.exec(text)[1]),
    authorization: `Basic ${Buffer.from(`docmount:${password}`).toString('base64')}`,
    async stop() {
      child.kill('SIGTERM')
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}
