// The folder a mount is to appear at. Looks into the mount table before touching it: a stat of a mount whose daemon hangs
// does not return.

import { readdir, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { MountError } from '../driver.ts'
import { readMountinfo } from '../mountinfo.ts'
import { unmount } from '../unmount.ts'
import { runProgram } from '../run-program.ts'

/** `/dev/fd/N`: mounted by somebody else (mount.fuse3 with drop_privileges), who handed us the descriptor. */
export function passedDescriptor(mountpoint: string): number | undefined {
  const digits = /^\/dev\/fd\/(\d+)$/.exec(mountpoint)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/** The mountpoint as the kernel will list it: an empty folder with nothing mounted on it. Removes what a crash left there. */
export async function prepareMountpoint(wanted: string): Promise<string> {
  try {
    const mountpoint = await withoutLinks(wanted)
    await removeDeadMount(mountpoint)
    const found = await stat(mountpoint)
    if (!found.isDirectory()) throw new MountError('ENOTDIR', `${wanted} is not a folder`)
    const names = await readdir(mountpoint)
    if (names.length === 0) return mountpoint
    throw new MountError('ENOTEMPTY', `${wanted} is not empty: choose an empty folder`)
  } catch (error) {
    if (error instanceof MountError) throw error
    const { code = 'EIO' } = error as NodeJS.ErrnoException
    throw new MountError(code, describe(wanted, code), { cause: error })
  }
}

function describe(wanted: string, code: string): string {
  switch (code) {
    case 'ENOENT':
      return `${wanted} does not exist: make the folder first`
    case 'ENOTDIR':
      return `${wanted} is not a folder`
    case 'EACCES':
    case 'EPERM':
      return `${wanted} may not be read by this user: choose a folder of your own`
    default:
      return `cannot mount on ${wanted}: ${code}`
  }
}

/** Follows links without touching what is mounted at the end. */
async function withoutLinks(wanted: string): Promise<string> {
  const absolute = resolve(wanted)
  const candidate = join(await realpath(dirname(absolute)), basename(absolute))
  if ((await topmost(candidate)) !== undefined) return candidate
  return realpath(candidate)
}

/** The type of what is mounted exactly there. */
async function topmost(mountpoint: string): Promise<string | undefined> {
  return (await readMountinfo()).findLast((line) => line.mountpoint === mountpoint)?.type
}

async function removeDeadMount(mountpoint: string): Promise<void> {
  const type = await topmost(mountpoint)
  if (type === undefined) return
  if (type === 'fuse.docmount' && (await isDisconnected(mountpoint))) {
    await unmount(mountpoint, { lazy: true })
    return
  }
  throw new MountError(
    'EBUSY',
    `${mountpoint} is mounted already (${type}): unmount it or choose another folder`,
  )
}

/** Asked in a process of its own, which a hanging daemon may hold as long as it likes. */
async function isDisconnected(mountpoint: string): Promise<boolean> {
  const { code, stderr } = await runProgram('stat', ['--', mountpoint], { limitMs: 5000 })
  return code !== 0 && /not connected|connection abort/i.test(stderr)
}
