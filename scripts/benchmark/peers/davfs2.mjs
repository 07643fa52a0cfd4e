// `mount.davfs` over `rclone serve webdav`.

import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isMounted, processTree, unmount } from '../machine.mjs'
import { run, runWell, waitFor } from '../processes.mjs'
import { emptyFolder, firstLineOf, missing, startWebdavServer } from './shared.mjs'

export const davfs2 = {
  name: 'davfs2',
  absence: () => missing({ 'mount.davfs': 'davfs2', rclone: 'rclone' }),
  version: () => firstLineOf('mount.davfs', '--version'),
  start: startWebdavServer,
  async mount({ mountpoint, folder, server }) {
    await mkdir(mountpoint, { recursive: true })
    await chmod(folder, 0o755)
    const cache = join(folder, 'cache')
    await runWell('chown', ['root:davfs2', cache])
    await chmod(cache, 0o775)
    // Without the larger buffer davfs2 1.6 lists no folder on today's kernels (EINVAL).
    const config = join(folder, 'davfs2.conf')
    await writeFile(config, `ask_auth 0\nbuf_size 256\ncache_dir ${cache}\n`)
    const args = ['-o', `conf=${config}`, server.url, mountpoint]
    const { complaints } = await run('mount.davfs', args, { limitSeconds: 30 })
    await waitFor(`mount.davfs ${complaints}`, () => isMounted(mountpoint), { limitSeconds: 5 })
    const pidFile = `/var/run/mount.davfs/${mountpoint.replace(/^\//, '').replaceAll('/', '-')}.pid`
    const readPid = async () => Number(await readFile(pidFile, 'utf8').catch(() => 0))
    const pid = await waitFor('the pid of mount.davfs', readPid, { limitSeconds: 5 })
    return {
      pids: () => processTree(pid),
      async unmount() {
        // umount.davfs uploads the rest first.
        await run('umount', [mountpoint], { limitSeconds: 60 })
        await unmount(mountpoint)
        const isGone = async () => processTree(pid).length === 0
        await waitFor('the end of mount.davfs', isGone, { limitSeconds: 5 }).catch(() =>
          process.kill(pid, 'SIGKILL'),
        )
        await rm(pidFile, { force: true })
      },
    }
  },
  emptyCache: emptyFolder('cache'),
}
