// Parts shared by the peers that serve a plain folder of this machine (WebDAV, sftp).

import { cp, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { runWell } from '../processes.mjs'

/** A copy of the project for one peer, so that nobody writes into what others read. */
export async function copyProject(data, folder) {
  const root = join(folder, 'project')
  await cp(data.project, root, { recursive: true })
  return {
    root,
    async warm() {
      await runWell('sh', ['-c', 'find "$1" -type f -exec cat {} + > /dev/null', 'sh', root])
    },
    /** Sizes by name of what the server's folder holds. */
    async holds(path) {
      const names = await readdir(join(root, path)).catch(() => [])
      const sizes = new Map()
      for (const name of names) {
        const found = await stat(join(root, path, name)).catch(() => undefined)
        if (found?.isFile()) sizes.set(name, found.size)
      }
      return sizes
    },
  }
}
