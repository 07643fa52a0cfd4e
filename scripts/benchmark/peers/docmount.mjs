// docmount from this repository's dist/, over its own service. Two doors to one service: closing waits for the service
// (the default), or does not (`--close-wait 0`).

import { once } from 'node:events'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isMounted, unmount } from '../mounts.mjs'
import { freePort, runWell, startProgram, waitFor } from '../processes.mjs'
import { processTree } from '../resources.mjs'
import { parallel } from '../parallel.mjs'
import { scheme, serveWithTls } from '../tls.mjs'

const program = new URL('../../../dist/cli/main.js', import.meta.url).pathname
const projectName = 'bench'

export const docmount = {
  name: 'docmount',
  /** Reason why this peer cannot run here; undefined where it can. */
  async absence() {
    return undefined
  },

  /** Starts the service and stores the documents. */
  async start({ folder, data, proxy }) {
    const logFile = join(folder, 'service.log')
    const dataDir = join(folder, 'service')
    const service = await startService(dataDir, logFile)
    const { createClient } = await import('../../../dist/api/index.js')
    const client = createClient({ baseUrl: service.baseUrl, apiKey: service.key })
    const files = client.files(projectName)
    await parallel(data.paths, 16, async (path) => {
      const bytes = await readFile(join(data.project, path))
      await put(files, path, bytes)
    })
    const port = await proxy.open(service.port)
    return {
      baseUrl: `${scheme}://127.0.0.1:${port}/api`,
      key: service.key,
      project: projectName,
      async warm() {
        await runWell('sh', ['-c', 'find "$1" -type f -exec cat {} + > /dev/null', 'sh', dataDir])
      },
      /** Sizes by name, asked of the service directly. */
      async holds(path) {
        const found = await files.get(path).catch((error) => {
          if (error.status === 404) return { entries: [] }
          throw error
        })
        return new Map(
          found.entries.filter((entry) => entry.kind === 'file').map(({ name, size }) => [name, size]),
        )
      },
      async stop() {
        await client.close()
        await service.program.stop()
      },
    }
  },

  /** `flavour`: undefined or 'write-back'. The folder's caches and state outlive an unmount. */
  async mount({ mountpoint, folder, server, flavour }) {
    await mkdir(mountpoint, { recursive: true })
    const args = flavour === 'write-back' ? ['--close-wait', '0'] : []
    const started = startDaemon(program, { mountpoint, folder, server, args })
    await waitFor('docmount mount', () => isMounted(mountpoint), { program: started })
    return {
      pids: () => processTree(started.pid),
      async unmount() {
        started.child.kill('SIGTERM')
        const timer = setTimeout(() => void unmount(mountpoint, { limitSeconds: 5 }), 60_000)
        await started.ended
        clearTimeout(timer)
        await unmount(mountpoint)
      },
    }
  },

  async emptyCache(folder) {
    for (const name of ['cache', 'state']) await rm(join(folder, name), { recursive: true, force: true })
  },
}

/** A service of ours in a process of its own; answers once it listens. */
async function startService(dataDir, logFile) {
  const port = await freePort()
  const started = startProgram(
    process.execPath,
    [
      program,
      'serve',
      '--data',
      dataDir,
      '--listen',
      `127.0.0.1:${port}`,
      '--project',
      projectName,
      '--json',
      ...serveWithTls,
    ],
    { logFile },
  )
  const [line] = await once(started.child.stdout, 'data')
  const { base_url: baseUrl, projects } = JSON.parse(String(line).split('\n')[0])
  return { program: started, port, baseUrl, key: projects[0].api_key }
}

async function put(files, path, bytes) {
  const { mimetypeOfName } = await import('../../../dist/api/index.js')
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

/** Begins to mount by the program of any work tree; `folder` keeps what the daemon keeps, and its log. */
export function startDaemon(cli, { mountpoint, folder, server, args = [] }) {
  const place = ['--base-url', server.baseUrl, '--driver', 'kernel']
  const nodeOptions = process.env['BENCH_NODE_OPTIONS']?.split(' ') ?? []
  return startProgram(
    process.execPath,
    [...nodeOptions, cli, 'mount', server.project, mountpoint, '--foreground', ...place, ...args],
    { env: environment(folder, server.key), cwd: folder, logFile: join(folder, 'docmount.log') },
  )
}

function environment(folder, key) {
  return {
    ...process.env,
    DOCMOUNT_API_KEY: key,
    DOCMOUNT_CONFIG: join(folder, 'no-config.json'),
    XDG_STATE_HOME: join(folder, 'state'),
    XDG_CACHE_HOME: join(folder, 'cache'),
    XDG_RUNTIME_DIR: folder,
  }
}
