// docmount with its own service, measured in two flavours: close(2) waits for the service (the default), or does not
// (`--close-wait 0`).

import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isMounted, processTree, unmount, warmFiles } from '../machine.mjs'
import { parallel, startProgram, waitFor } from '../processes.mjs'
import { cliOf, drivesEnvironment, filesOf, putDocument, scheme, startService } from '../servers.mjs'

export const docmount = {
  name: 'docmount',
  async absence() {},

  /** Starts the service of a work tree behind the proxy, and stores the documents. */
  async start({ folder, data, proxy, undo, root }) {
    const service = await startService(folder, { root })
    undo.push(service.stop)
    const files = await filesOf(service, undo)
    await parallel(data.paths, 16, async (path) =>
      putDocument(files, path, await readFile(join(data.project, path))),
    )
    return {
      baseUrl: `${scheme}://127.0.0.1:${await proxy.open(service.port)}/api`,
      key: service.key,
      project: 'bench',
      files,
      warm: () => warmFiles(service.dataDir),
      /** Returns sizes by name, from the service, not through the drive. */
      async holds(path) {
        const found = await files.get(path).catch((error) => {
          if (error.status === 404) return { entries: [] }
          throw error
        })
        const stored = found.entries.filter(({ kind }) => kind === 'file')
        return new Map(stored.map(({ name, size }) => [name, size]))
      },
    }
  },

  /** Mounts with a work tree's program. Cache and state stay in `folder` after an unmount. `flavour`: undefined or 'write-back'; `more`: options. */
  async mount({ mountpoint, folder, server, flavour, root, undo, more = [] }) {
    await mkdir(mountpoint, { recursive: true })
    const nodeOptions = process.env['BENCH_NODE_OPTIONS']?.split(' ') ?? []
    const place = [server.project, mountpoint, '--foreground', '--base-url', server.baseUrl]
    const args = [cliOf(root), 'mount', ...place, '--driver', 'kernel', ...more]
    if (flavour === 'write-back') args.push('--close-wait', '0')
    const program = startProgram(process.execPath, [...nodeOptions, ...args], {
      env: drivesEnvironment(folder, server.key),
      cwd: folder,
      logFile: join(folder, 'docmount.log'),
    })
    const end = async () => {
      await program.stop(60)
      await unmount(mountpoint, { limitSeconds: 5 })
    }
    undo?.push(end)
    await waitFor('docmount mount', () => isMounted(mountpoint), { program })
    return { pid: program.pid, mountpoint, pids: () => processTree(program.pid), unmount: end }
  },

  async emptyCache(folder) {
    for (const name of ['cache', 'state']) await rm(join(folder, name), { recursive: true, force: true })
  },
}
