// Users of a busy mount, as far as /proc tells. Reads links of /proc only: they are answered from kernel memory and
// never reach the mount, unlike ps and lsof, which hang on a wedged one.

import { readFile, readdir, readlink } from 'node:fs/promises'
import { readMountinfo } from '../fuse/mountinfo.ts'
import { isAtOrUnder } from './path-inside.ts'

export interface MountUser {
  readonly pid: number
  readonly command: string
  /** One path it holds: its working folder or an open file. */
  readonly path: string
}

/** Other users' processes stay unseen without root's rights. */
export async function findMountUsers(mountpoint: string): Promise<readonly MountUser[]> {
  const users: MountUser[] = []
  for (const name of await readdir('/proc').catch(() => [])) {
    const pid = Number(name)
    if (!Number.isInteger(pid) || pid === process.pid) continue
    const path = await findHeldPath(pid, mountpoint)
    if (path === undefined) continue
    const command = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '?')
    users.push({ pid, command: command.trim(), path })
  }
  return users
}

/** `bash (process 12) in /home/me/acme, vim (process 34) with …`, or a hint where nothing is seen. */
export function describeMountUsers(users: readonly MountUser[], mountpoint: string): string {
  if (users.length === 0) return 'a process this user cannot see'
  const shown = users
    .slice(0, 3)
    .map(({ pid, command, path }) =>
      path === mountpoint ? `${command} (process ${pid})` : `${command} (process ${pid}) with ${path}`,
    )
  return users.length > 3 ? `${shown.join(', ')} and ${users.length - 3} more` : shown.join(', ')
}

async function findHeldPath(pid: number, mountpoint: string): Promise<string | undefined> {
  const descriptors = await readdir(`/proc/${pid}/fd`).catch(() => [])
  const links = ['cwd', 'root', 'exe', ...descriptors.map((fd) => `fd/${fd}`)]
  for (const link of links) {
    const target = await readlink(`/proc/${pid}/${link}`).catch(() => undefined)
    if (target !== undefined && isAtOrUnder(target, mountpoint)) return target
  }
  return findMappedPath(pid, mountpoint)
}

/** A file may be closed and still be mapped into memory. */
async function findMappedPath(pid: number, mountpoint: string): Promise<string | undefined> {
  const maps = await readFile(`/proc/${pid}/maps`, 'utf8').catch(() => '')
  if (!maps.includes(mountpoint)) return undefined
  // The sixth field, which may hold spaces.
  const paths = maps.split('\n').map((line) => line.split(/ +/).slice(5).join(' '))
  return paths.find((path) => isAtOrUnder(path, mountpoint))
}

/** Mounts inside a mount keep it busy too. */
export async function findNestedMounts(mountpoint: string): Promise<readonly string[]> {
  const lines = await readMountinfo()
  return lines
    .map((line) => line.mountpoint)
    .filter((path) => path !== mountpoint && isAtOrUnder(path, mountpoint))
}
