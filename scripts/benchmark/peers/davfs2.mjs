// `mount.davfs` over `rclone serve webdav`.

import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isMounted, unmount } from '../mounts.mjs'
import { has, run, runWell, waitFor } from '../processes.mjs'
import { processTree } from '../resources.mjs'
import { startWebdav } from './webdav.mjs'

export const davfs2 = {
  name: 'davfs2',
  async absence() {
    if (!(await has('mount.davfs'))) return 'not installed (apt-get install davfs2)'
    return (await has('rclone')) ? undefined : 'no WebDAV server for it (apt-get install rclone)'
  },
  async version() {
    return (await run('mount.davfs', ['--version'])).output.split('\n')[0]
  },
  start: startWebdav,
  async mount({ mountpoint, folder, server }) {
    await mkdir(mountpoint, { recursive: true })
    await chmod(folder, 0o755)
    const cache = join(folder, 'cache')
    await mkdir(cache, { recursive: true })
    await runWell('chown', ['root:davfs2', cache])
    await chmod(cache, 0o775)
    // Without the larger buffer davfs2 1.6 lists no folder on today's kernels (EINVAL).
    const config = join(folder, 'davfs2.conf')
    await writeFile(config, `ask_auth 0\nbuf_size 256\ncache_dir ${cache}\n`)
    const started = await run('mount.davfs', ['-o', `conf=${config}`, server.url, mountpoint], {
      limitSeconds: 30,
    })
    await waitFor(`mount.davfs ${started.complaints}`, () => isMounted(mountpoint), { limitSeconds: 5 })
    const readPid = async () => Number(await readFile(pidFileOf(mountpoint), 'utf8').catch(() => 0))
    const pid = await waitFor('the pid of mount.davfs', readPid, { limitSeconds: 5 })
    return {
      pids: () => processTree(pid),
      async unmount() {
        // It uploads what it still has first.
        await run('umount', [mountpoint], { limitSeconds: 60 })
        await unmount(mountpoint)
        const isGone = async () => processTree(pid).length === 0
        await waitFor('the end of mount.davfs', isGone, { limitSeconds: 5 }).catch(() =>
          process.kill(pid, 'SIGKILL'),
        )
        await rm(pidFileOf(mountpoint), { force: true })
      },
    }
  },
  async emptyCache(folder) {
    await rm(join(folder, 'cache'), { recursive: true, force: true })
  },
}

function pidFileOf(mountpoint) {
  return `/var/run/mount.davfs/${mountpoint.replace(/^\//, '').replaceAll('/', '-')}.pid`
}
