// `rclone mount` over `rclone serve webdav`, with the cache that its manual wants for writing programs.

import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isMounted, unmount } from '../mounts.mjs'
import { has, run, startProgram, waitFor } from '../processes.mjs'
import { processTree } from '../resources.mjs'
import { startWebdav } from './webdav.mjs'

export const rclone = {
  name: 'rclone',
  async absence() {
    return (await has('rclone')) ? undefined : 'not installed (apt-get install rclone)'
  },
  async version() {
    return (await run('rclone', ['version'])).output.split('\n')[0]
  },
  start: startWebdav,
  async mount({ mountpoint, folder, server }) {
    await mkdir(mountpoint, { recursive: true })
    const program = startProgram(
      'rclone',
      [
        'mount',
        `:webdav,url='${server.url}',vendor=other:`,
        mountpoint,
        '--vfs-cache-mode',
        'full',
        '--cache-dir',
        join(folder, 'cache'),
        '--config',
        join(folder, 'no-config'),
      ],
      { logFile: join(folder, 'rclone.log') },
    )
    await waitFor('rclone mount', () => isMounted(mountpoint), { program })
    return {
      pids: () => processTree(program.pid),
      async unmount() {
        await program.stop(30)
        await unmount(mountpoint)
      },
    }
  },
  async emptyCache(folder) {
    await rm(join(folder, 'cache'), { recursive: true, force: true })
  },
}
