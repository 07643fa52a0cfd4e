// The kernel's list of mounts (/proc/self/mountinfo). Reading it touches no mount, so it cannot hang on a dead one.

import { readFile } from 'node:fs/promises'

export interface MountLine {
  readonly id: number
  /** `major:minor` of the mounted filesystem. */
  readonly device: string
  readonly mountpoint: string
  readonly type: string
  /** Device name given at mounting, e.g. `docmount:acme`. */
  readonly source: string
  /** Id of the user who mounted it; undefined if it is no FUSE filesystem. */
  readonly owner: number | undefined
  /** True if other users may enter (`allow_other`). */
  readonly isShared: boolean
}

/** Filesystem type of the mounts of both drivers. */
export const docmountType = 'fuse.docmount'

/**
 * True if a file server, which runs as root, may enter the drive. Samba there needs a list of extended attributes, even if empty.
 * All other drives answer LISTXATTR with ENOSYS, after which the kernel sends none: the `ls -l` of Debian 13 asks for one
 * list per name.
 */
export function isOpenToFileServers({ owner, isShared }: Pick<MountLine, 'owner' | 'isShared'>): boolean {
  return owner === 0 || isShared
}

/** Resolves with all mounts this process sees, oldest first. */
export async function readMountinfo(): Promise<MountLine[]> {
  return parseMountinfo(await readFile('/proc/self/mountinfo', 'utf8'))
}

/** Resolves with the topmost docmount mount at a mountpoint. */
export async function findOurMount(mountpoint: string): Promise<MountLine | undefined> {
  const lines = await readMountinfo()
  return lines.findLast((line) => line.mountpoint === mountpoint && line.type === docmountType)
}

/**
 * Resolves with the mount of an open /dev/fuse; undefined on older kernels. Recent ones (6.18 does) tell the descriptor's
 * connection, which is the minor number of the mount's device.
 */
export async function findMountOfDescriptor(fd: number): Promise<MountLine | undefined> {
  const info = await readFile(`/proc/self/fdinfo/${fd}`, 'utf8').catch(() => '')
  const connection = /^fuse_connection:\s*(\d+)$/m.exec(info)?.[1]
  return (await readMountinfo()).find(({ device }) => device === `0:${connection}`)
}

/** Parses the format of proc(5), in which a `-` ends the optional fields. */
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

/** Decodes space, tab, newline and backslash, which are written as three octal digits. */
function unescape(field: string): string {
  return field.replaceAll(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  )
}
