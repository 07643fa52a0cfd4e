// The kernel's list of mounts (/proc/self/mountinfo), read without touching any of them.

import { readFile } from 'node:fs/promises'

export interface MountLine {
  readonly id: number
  /** `major:minor` of the mounted filesystem. */
  readonly device: string
  readonly mountpoint: string
  readonly type: string
}

/** Every mount this process sees, in the order they were made. */
export async function readMountinfo(): Promise<MountLine[]> {
  return parseMountinfo(await readFile('/proc/self/mountinfo', 'utf8'))
}

/** The uppermost mount of ours at a mountpoint. */
export async function findOurMount(mountpoint: string): Promise<MountLine | undefined> {
  const lines = await readMountinfo()
  return lines.findLast((line) => line.mountpoint === mountpoint && line.type === 'fuse.docmount')
}

/** Format: proc(5). Optional fields end with a `-`. */
export function parseMountinfo(text: string): MountLine[] {
  const lines: MountLine[] = []
  for (const line of text.split('\n')) {
    const fields = line.split(' ')
    const [id, , device, , mountpoint] = fields
    const type = fields[fields.indexOf('-', 6) + 1]
    if (device === undefined || mountpoint === undefined || type === undefined) continue
    lines.push({ id: Number(id), device, mountpoint: unescape(mountpoint), type })
  }
  return lines
}

/** Space, tab, newline and backslash are written as three octal digits. */
function unescape(field: string): string {
  return field.replaceAll(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  )
}
