// `rclone mount` with `rclone serve webdav`, and the cache mode that its manual recommends for programs that write.

import { join } from 'node:path'
import { emptyFolder, firstLineOf, missing, mountBy, startWebdavServer } from './shared.mjs'

export const rclone = {
  name: 'rclone',
  absence: () => missing({ rclone: 'rclone' }),
  version: () => firstLineOf('rclone', 'version'),
  start: startWebdavServer,
  mount({ mountpoint, folder, server }) {
    const remote = `:webdav,url='${server.url}',vendor=other:`
    const cache = ['--vfs-cache-mode', 'full', '--cache-dir', join(folder, 'cache')]
    const args = ['mount', remote, mountpoint, ...cache, '--config', join(folder, 'no-config')]
    return mountBy('rclone', args, { mountpoint, folder })
  },
  emptyCache: emptyFolder('cache'),
}
