// Samba that serves a folder: smbd on a free port of 127.0.0.1, with its state in a folder of the test, and smbclient.

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { connect, createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'

import { isInstalled, run } from './run.ts'
import { waitUntil } from './wait-until.ts'

/** Returns why smbd cannot serve a drive here; undefined if it can. */
export function whyNoSamba(): string | undefined {
  const isComplete = isInstalled('smbd') && isInstalled('smbclient') && hasModuleForMacs()
  if (!isComplete) return 'samba is not installed (apt-get install samba smbclient samba-vfs-modules)'
  return process.getuid?.() === 0 ? undefined : 'smbd runs as root here'
}

function hasModuleForMacs(): boolean {
  const built = execFileSync('smbd', ['-b'], { encoding: 'utf8' })
  const modules = /^\s*MODULESDIR: (.*)$/m.exec(built)?.[1]
  return modules !== undefined && existsSync(join(modules, 'vfs', 'fruit.so'))
}

export interface Samba {
  /** Runs smbclient commands on a share; returns their output, and throws with it if one failed. */
  client(share: string, commands: readonly string[]): Promise<string>
  stop(): Promise<void>
}

/** Serves the folder `served` to everybody, as root. `shares`: additional lines of smb.conf, by the share's name. */
export async function startSamba(
  folder: string,
  served: string,
  shares: Readonly<Record<string, readonly string[]>>,
): Promise<Samba> {
  const state = join(folder, 'samba')
  await mkdir(state, { recursive: true, mode: 0o700 })
  const port = await freePort()
  const directories = [
    'private dir',
    'state directory',
    'cache directory',
    'lock directory',
    'pid directory',
    'ncalrpc dir',
  ]
  const lines = [
    '[global]',
    `smb ports = ${port}`,
    'interfaces = 127.0.0.1',
    'bind interfaces only = yes',
    ...directories.map((name) => `${name} = ${state}`),
    'map to guest = bad user',
    'guest account = root',
    'disable spoolss = yes',
    'load printers = no',
    'usershare path =',
    ...Object.entries(shares).flatMap(([name, extraLines]) => [
      `[${name}]`,
      `path = ${served}`,
      'guest ok = yes',
      'guest only = yes',
      'read only = no',
      ...extraLines,
    ]),
    '',
  ]
  const config = join(state, 'smb.conf')
  await writeFile(config, lines.join('\n'))
  // Detached, because smbd kills its process group when it ends.
  const smbd = spawn(
    'smbd',
    ['-s', config, '--daemon', '--foreground', '--no-process-group', '--debug-stdout'],
    {
      cwd: '/',
      detached: true,
      // With a pipe as stdin: smbd ends when stdin closes, so also when the test's process ends.
      stdio: ['pipe', 'pipe', 'pipe'],
    },
  )
  let output = ''
  smbd.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  smbd.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const ended = once(smbd, 'close')
  await waitUntil('smbd to listen', () => isListening(port)).catch((error: unknown) => {
    smbd.kill()
    throw new Error(`smbd does not listen: ${output}`, { cause: error })
  })
  return {
    async client(share, commands) {
      const args = ['-s', config, '-p', `${port}`, '-N', `//127.0.0.1/${share}`, '-c', commands.join('; ')]
      const { stdout, stderr } = await run('smbclient', args, { mayFail: true })
      if (/NT_STATUS_/.test(stdout + stderr)) throw new Error(`${share}: ${stdout}${stderr}`)
      return stdout
    },
    async stop() {
      smbd.kill()
      await ended
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
