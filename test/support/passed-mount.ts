// A mount whose /dev/fuse is opened by root and passed to a server without root's rights, as mount.fuse3 does with
// `drop_privileges`.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'

export interface PassedMount {
  /** The open /dev/fuse. Calls to the mount wait until a program serves it. */
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
