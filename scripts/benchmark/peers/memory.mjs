// A limit, not a peer: the same kernel driver over documents in memory. No filesystem that goes through FUSE and Node
// is faster.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { unmount } from '../mounts.mjs'
import { run, runWell } from '../processes.mjs'
import { processTree } from '../resources.mjs'

const root = new URL('../../..', import.meta.url).pathname

export const memory = {
  name: 'memory',
  isLimit: true,
  async absence() {
    return undefined
  },
  /** One mount for the whole run: it is filled through itself, once. */
  async start({ folder, data }) {
    const built = join(folder, 'built')
    await run(join(root, 'node_modules/.bin/tsc'), [
      '-p',
      join(root, 'test/tsconfig.build.json'),
      '--outDir',
      built,
    ])
    await writeFile(join(built, 'package.json'), '{ "type": "module" }')
    await symlink(join(root, 'node_modules'), join(built, 'node_modules'))
    const mountpoint = join(folder, 'mount')
    await mkdir(mountpoint)
    const child = fork(
      join(built, 'test/support/serve-memory.js'),
      [JSON.stringify({ mountpoint, isPlain: true, source: 'docmount:memory' })],
      { cwd: '/', stdio: ['ignore', 'ignore', 'ignore', 'ipc'] },
    )
    const [answer] = await once(child, 'message')
    if (answer.kind !== 'ready') throw new Error(`memory mount: ${answer.error.message}`)
    await runWell('cp', ['-r', `${data.project}/.`, mountpoint], { limitSeconds: 300 })
    return {
      mountpoint,
      pid: child.pid,
      async warm() {},
      holds: undefined,
      async stop() {
        if (child.connected) child.disconnect()
        if (child.exitCode === null) await once(child, 'exit')
        await unmount(mountpoint)
      },
    }
  },
  async mount({ server }) {
    return { mountpoint: server.mountpoint, pids: () => processTree(server.pid), async unmount() {} }
  },
  async emptyCache() {},
}
