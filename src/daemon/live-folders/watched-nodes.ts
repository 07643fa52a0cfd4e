// Nodes of a mount that programs watch by inotify or fanotify. The kernel tells a filesystem nothing of watches, but /proc does, of
// all processes that this one may look into: those of its user, and for root of all. Reading it touches no mount.

import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Descriptors that are looked at in one turn, within about a millisecond. */
const atOnce = 100

/** Resolves with the inode numbers that are watched on a device (`major:minor`). */
export async function watchedNodes(device: string): Promise<Set<number>> {
  const [major = 0, minor = 0] = device.split(':').map(Number)
  const sdev = ((major << 20) | minor).toString(16)
  const nodes = new Set<number>()
  let looked = 0
  for (const pid of namesIn('/proc')) {
    if (!/^\d+$/.test(pid)) continue
    for (const fd of namesIn(`/proc/${pid}/fd`)) {
      // Requests of the kernel do not wait for all of it.
      if (++looked % atOnce === 0) await nextTurn()
      if (!isWatcher(`/proc/${pid}/fd/${fd}`)) continue
      for (const ino of parseWatches(textOf(`/proc/${pid}/fdinfo/${fd}`), sdev)) nodes.add(ino)
    }
  }
  return nodes
}

/** The inode numbers on a device, from the `fdinfo` of proc(5), where both are hexadecimal. */
export function parseWatches(fdinfo: string, sdev: string): number[] {
  const lines = fdinfo.matchAll(/^(?:inotify wd:\S+|fanotify) ino:([\da-f]+) sdev:([\da-f]+) /gm)
  return [...lines].filter(([, , at]) => at === sdev).map(([, ino = '']) => Number.parseInt(ino, 16))
}

function isWatcher(link: string): boolean {
  try {
    return /^anon_inode:\[?(inotify|fanotify)/.test(readlinkSync(link))
  } catch {
    return false
  }
}

/** Empty for what has ended, or belongs to another user. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
