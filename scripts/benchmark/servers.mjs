// Servers for the benchmarks: docmount's service, its WebDAV server, and rclone's.

import { writeFileSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { costsOf } from './machine.mjs'
import { freePort, has, listensAt, run, startProgram } from './processes.mjs'

const thisTree = new URL('../..', import.meta.url).pathname
const tls = process.env['BENCH_TLS']

export const scheme = tls === undefined ? 'http' : 'https'

/** Returns the path of the command in a built work tree. */
export function cliOf(root = thisTree) {
  return join(root, 'dist/cli/main.js')
}

/** Starts a service with `projects`; returns when it listens. `place`: options of a shared store; default: the embedded one. */
export async function startService(folder, { root, place, projects = ['bench', 'other'], env = {} } = {}) {
  const dataDir = join(folder, 'service')
  const secure = tls === undefined ? [] : ['--cert', join(tls, 'cert.pem'), '--key', join(tls, 'key.pem')]
  const names = projects.flatMap((name) => ['--project', name])
  const args = [...(place ?? []), '--listen', '127.0.0.1:0', '--json', ...names, ...secure]
  const store = place?.includes('--database') ? [] : ['--data', dataDir]
  const program = startProgram(process.execPath, [cliOf(root), 'serve', ...store, ...args], {
    env: { ...process.env, ...env },
    logFile: join(folder, 'service.log'),
    isAsked: true,
  })
  const answer = JSON.parse(await program.answer((text) => text.includes('\n')))
  const keyOf = (name) => answer.projects.find((project) => project.name === name)?.api_key
  return {
    ...serverOf(program, Number(new URL(answer.base_url).port)),
    baseUrl: answer.base_url,
    metricsUrl: answer.metrics_url,
    keyOf,
    key: keyOf('bench'),
    dataDir,
    backUp: async () => {
      const args = [cliOf(root), 'backup', join(folder, 'backup'), '--data', dataDir]
      const { code } = await run(process.execPath, args, { limitSeconds: 600 })
      if (code !== 0) throw new Error(`the backup ended with ${code}`)
    },
  }
}

/** Returns a client of the service's project `bench`. */
export async function filesOf({ baseUrl, key }, undo) {
  const { createClient } = await import(join(thisTree, 'dist/api/index.js'))
  const client = createClient({ baseUrl, apiKey: key })
  undo.push(() => client.close())
  return client.files('bench')
}

/** Stores one document; `bytes` are its content. */
export async function putDocument(files, path, bytes) {
  const { mimetypeOfName } = await import(join(thisTree, 'dist/api/index.js'))
  await files.upload(path, {
    mimetype: mimetypeOfName(path),
    filename: path.slice(path.lastIndexOf('/') + 1),
    content: {
      kind: 'bytes',
      size: bytes.length,
      async *open() {
        for (let at = 0; at < bytes.length; at += 262_144) yield bytes.subarray(at, at + 262_144)
      },
    },
  })
}

/** Starts a service with generated listings: `folders` folders of `perFolder` names each. */
export async function startLister(folder, folders, perFolder) {
  const script = new URL('listing-server.mjs', import.meta.url).pathname
  const program = startProgram(process.execPath, [script, String(folders), String(perFolder)], {
    logFile: join(folder, 'lister.log'),
    isAsked: true,
  })
  const port = Number(await program.answer((text) => text.includes('\n')))
  return { baseUrl: `http://127.0.0.1:${port}/api`, key: 'any', project: 'names', stop: () => program.stop() }
}

/** Starts `rclone serve webdav` over a plain folder; undefined if rclone is not installed. */
export async function startRclone(folder, root = join(folder, 'rclone')) {
  if (!(await has('rclone'))) return undefined
  await mkdir(root, { recursive: true })
  const port = await freePort()
  const args = ['serve', 'webdav', root, '--addr', `127.0.0.1:${port}`, '--config', join(folder, 'no-config')]
  const program = startProgram('rclone', args, { logFile: join(folder, 'webdav.log') })
  await listensAt(port, program)
  return serverOf(program, port)
}

/** Starts `docmount webdav` for a service. */
export async function startWebdav(folder, { baseUrl, key }) {
  const args = ['webdav', 'bench', '--listen', '127.0.0.1:0', '--foreground', '--no-notify']
  const program = startProgram(process.execPath, [cliOf(), ...args], {
    env: { ...drivesEnvironment(folder, key), DOCMOUNT_BASE_URL: baseUrl },
    logFile: join(folder, 'docmount.log'),
    isAsked: true,
  })
  const passwordFile = /password +in (\S+)\n/
  const text = await program.answer((output) => passwordFile.test(output))
  const password = (await readFile(passwordFile.exec(text)[1], 'utf8')).trim()
  const authorization = `Basic ${Buffer.from(`docmount:${password}`).toString('base64')}`
  return { ...serverOf(program, Number(/:(\d+)\//.exec(text)[1])), authorization }
}

/** Returns the environment of a drive that keeps all its files in `folder`. */
export function drivesEnvironment(folder, key) {
  return {
    ...process.env,
    HOME: folder,
    DOCMOUNT_API_KEY: key,
    DOCMOUNT_CONFIG: join(folder, 'no-config.json'),
    XDG_STATE_HOME: join(folder, 'state'),
    XDG_CACHE_HOME: join(folder, 'cache'),
    XDG_RUNTIME_DIR: folder,
  }
}

function serverOf(program, port) {
  return {
    port,
    processorSeconds: () => costsOf([program.pid]).cpuSeconds,
    /** Resets `peakMegabytes`. */
    forgetPeak: () => writeFileSync(`/proc/${program.pid}/clear_refs`, '5'),
    /** Returns the peak memory since the start or `forgetPeak`, in MB. */
    peakMegabytes: () => Math.round(costsOf([program.pid]).peakBytes / (1024 * 1024)),
    stop: () => program.stop(60),
  }
}
