// A mount whose daemon is gone.

import { runProgram } from '../fuse/run-program.ts'

/** What both drivers mount as. */
export const docmountType = 'fuse.docmount'

/**
 * True when the mount's daemon is gone: the kernel answers ENOTCONN by itself. Asked in a process of its own, which a
 * wedged daemon may hold as long as it likes.
 */
export async function isDisconnected(mountpoint: string): Promise<boolean> {
  const { code, stderr } = await runProgram('stat', ['--', mountpoint], { limitMs: 5000 })
  return code !== 0 && /not connected|connection abort/i.test(stderr)
}
