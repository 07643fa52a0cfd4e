// Programs that use a busy mount, by the links in /proc. The kernel resolves those without the mount, so unlike ps and lsof
// this does not hang on a dead one.

import { readFile, readdir, readlink } from 'node:fs/promises'
import { readMountinfo } from '../fuse/mountinfo.ts'
import { isAtOrUnder } from './path-inside.ts'

export interface MountUser {
  readonly pid: number
  readonly command: string
  /** One path it uses: its working folder or an open file. */
  readonly path: string
}

/** Resolves with the processes that use it; without root, those of this user. */
export async function findMountUsers(mountpoint: string): Promise<readonly MountUser[]> {
  const users: MountUser[] = []
  for (const name of await readdir('/proc').catch(() => [])) {
    const pid = Number(name)
    if (!Number.isInteger(pid) || pid === process.pid) continue
    const path = await findUsedPath(pid, mountpoint)
    if (path === undefined) continue
    const command = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '?')
    users.push({ pid, command: command.trim(), path })
  }
  return users
}

/** Returns a list for messages: `bash (process 12), vim (process 34) with /home/me/acme/a.txt`. */
export function describeMountUsers(users: readonly MountUser[], mountpoint: string): string {
  if (users.length === 0) return 'a process this user cannot see'
  const shown = users
    .slice(0, 3)
    .map(({ pid, command, path }) =>
      path === mountpoint ? `${command} (process ${pid})` : `${command} (process ${pid}) with ${path}`,
    )
  return users.length > 3 ? `${shown.join(', ')} and ${users.length - 3} more` : shown.join(', ')
}

async function findUsedPath(pid: number, mountpoint: string): Promise<string | undefined> {
  const descriptors = await readdir(`/proc/${pid}/fd`).catch(() => [])
  const links = ['cwd', 'root', 'exe', ...descriptors.map((fd) => `fd/${fd}`)]
  for (const link of links) {
    const target = await readlink(`/proc/${pid}/${link}`).catch(() => undefined)
    if (target !== undefined && isAtOrUnder(target, mountpoint)) return target
  }
  return findMappedPath(pid, mountpoint)
}

/** Resolves with a file mapped into memory, which may be closed otherwise. */
async function findMappedPath(pid: number, mountpoint: string): Promise<string | undefined> {
  const maps = await readFile(`/proc/${pid}/maps`, 'utf8').catch(() => '')
  if (!maps.includes(mountpoint)) return undefined
  // The sixth field, which may contain spaces.
  const paths = maps.split('\n').map((line) => line.split(/ +/).slice(5).join(' '))
  return paths.find((path) => isAtOrUnder(path, mountpoint))
}

/** Resolves with mounts inside a mount, which keep it busy, too. */
export async function findNestedMounts(mountpoint: string): Promise<readonly string[]> {
  const lines = await readMountinfo()
  return lines
    .map((line) => line.mountpoint)
    .filter((path) => path !== mountpoint && isAtOrUnder(path, mountpoint))
}
