// davfs2 as a real client of docmount's WebDAV server: a mount by mount.davfs, as root.

import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { whyNoFuse } from './fuse.ts'
import { isInstalled, run } from './run.ts'
import { waitUntil } from './wait-until.ts'
import type { WebdavDrive } from './webdav-drive.ts'

export interface Davfs2 {
  readonly mountpoint: string
  /** Unmounts, after davfs2 has uploaded the rest. */
  unmount(): Promise<void>
}

/** Returns why davfs2 cannot mount here; undefined if it can. */
export function whyNoDavfs2(): string | undefined {
  if (!isInstalled('mount.davfs')) return 'davfs2 is not installed (apt-get install davfs2)'
  if (process.getuid?.() !== 0) return 'davfs2 is mounted as root here'
  return whyNoFuse()
}

/** Mounts the drive at `folder`/davfs2. Files are uploaded when closed, and changes of others are shown at once. */
export async function mountDavfs2({ url, user, password }: WebdavDrive, folder: string): Promise<Davfs2> {
  const mountpoint = join(folder, 'davfs2')
  const cache = join(folder, 'davfs2-cache')
  const secrets = join(folder, 'davfs2-secrets')
  const config = join(folder, 'davfs2.conf')
  await chmod(folder, 0o755)
  await mkdir(mountpoint)
  await mkdir(cache)
  await run('chown', ['root:davfs2', cache])
  await chmod(cache, 0o775)
  await writeFile(secrets, `${url}/ ${user} ${password}\n`, { mode: 0o600 })
  // Without the larger buffer davfs2 1.6 lists no folder on today's kernels (EINVAL).
  const lines = ['ask_auth 0', 'buf_size 256', 'delay_upload 0', 'dir_refresh 0', 'file_refresh 0']
  await writeFile(config, [...lines, `cache_dir ${cache}`, `secrets ${secrets}`, ''].join('\n'))
  await run('mount.davfs', ['-o', `conf=${config}`, `${url}/`, mountpoint])
  return {
    mountpoint,
    async unmount() {
      // umount runs umount.davfs, which waits for the uploads; a lazy unmount does not.
      await run('umount', [mountpoint], { mayFail: true })
      const isMounted = async () => (await readFile('/proc/self/mounts', 'utf8')).includes(` ${mountpoint} `)
      if (await isMounted()) await run('umount', ['-l', mountpoint], { mayFail: true })
      await waitUntil('davfs2 to end', async () => !(await isMounted()))
      await rm(`/var/run/mount.davfs/${mountpoint.slice(1).replaceAll('/', '-')}.pid`, { force: true })
    },
  }
}
