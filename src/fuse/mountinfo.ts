// The kernel's list of mounts (/proc/self/mountinfo), read without touching any of them.

import { readFile } from 'node:fs/promises'

export interface MountLine {
  readonly id: number
  /** `major:minor` of the mounted filesystem. */
  readonly device: string
  readonly mountpoint: string
  readonly type: string
  /** As the filesystem's driver was told. */
  readonly source: string
  /** The user who mounted it, where it is a FUSE filesystem. */
  readonly owner: number | undefined
  /** Other users may enter (`allow_other`). */
  readonly isShared: boolean
}

/** Type of both drivers' mounts. */
export const docmountType = 'fuse.docmount'

/**
 * A file server runs as root: it may enter root's drives, and those that are open to others. Samba needs a list of extended
 * attributes there, if an empty one. Elsewhere LISTXATTR is ENOSYS, which the kernel remembers: the `ls -l` of Debian 13 asks for
 * one list per name.
 */
export function mayBeServed({ owner, isShared }: Pick<MountLine, 'owner' | 'isShared'>): boolean {
  return owner === 0 || isShared
}

/** Every mount this process sees, in the order they were made. */
export async function readMountinfo(): Promise<MountLine[]> {
  return parseMountinfo(await readFile('/proc/self/mountinfo', 'utf8'))
}

/** The uppermost mount of ours at a mountpoint. */
export async function findOurMount(mountpoint: string): Promise<MountLine | undefined> {
  const lines = await readMountinfo()
  return lines.findLast((line) => line.mountpoint === mountpoint && line.type === docmountType)
}

/**
 * The mount of an open /dev/fuse. Recent kernels (6.18 does) tell a descriptor's connection, which is the minor
 * number of its mount's device; undefined on older ones.
 */
export async function findMountOfDescriptor(fd: number): Promise<MountLine | undefined> {
  const info = await readFile(`/proc/self/fdinfo/${fd}`, 'utf8').catch(() => '')
  const connection = /^fuse_connection:\s*(\d+)$/m.exec(info)?.[1]
  return (await readMountinfo()).find(({ device }) => device === `0:${connection}`)
}

/** Format: proc(5). Optional fields end with a `-`. */
export function parseMountinfo(text: string): MountLine[] {
  const lines: MountLine[] = []
  for (const line of text.split('\n')) {
    const fields = line.split(' ')
    const [id, , device, , mountpoint] = fields
    const [type, source, options = ''] = fields.slice(fields.indexOf('-', 6) + 1)
    if (device === undefined || mountpoint === undefined || type === undefined) continue
    const owner = /(?:^|,)user_id=(\d+)/.exec(options)?.[1]
    lines.push({
      id: Number(id),
      device,
      mountpoint: unescape(mountpoint),
      type,
      source: unescape(source ?? ''),
      owner: owner === undefined ? undefined : Number(owner),
      isShared: options.split(',').includes('allow_other'),
    })
  }
  return lines
}

/** Space, tab, newline and backslash are written as three octal digits. */
function unescape(field: string): string {
  return field.replaceAll(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  )
}
