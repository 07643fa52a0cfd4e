// A mount made the way mount.fuse3 makes one for a program that is not to have root's rights: whoever serves it is handed
// the open /dev/fuse.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'

export interface PassedMount {
  /** An open /dev/fuse: what is asked of the mount waits for whoever serves it. */
  readonly fd: number
  close(): void
}

/** Mounts on `folder`, as root. */
export async function mountForOthers(folder: string): Promise<PassedMount> {
  const fd = openSync('/dev/fuse', 'r+')
  const options = 'fd=3,rootmode=40000,user_id=0,group_id=0,default_permissions'
  const mounter = spawn('mount', ['-i', '-t', 'fuse.docmount', '-o', options, 'docmount:passed', folder], {
    cwd: '/',
    stdio: ['ignore', 'ignore', 'ignore', fd],
  })
  const [code] = (await once(mounter, 'exit')) as [number | null]
  if (code === 0) return { fd, close: () => closeSync(fd) }
  closeSync(fd)
  throw new Error(`mount ended with ${code}`)
}
