// Nodes of a mount that programs watch by inotify or fanotify. The kernel does not tell a filesystem of watches, but /proc lists
// them for the processes of this user (for root, of all users). Reading it touches no mount.

import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Descriptors that are checked in one turn of the event loop, which takes about a millisecond. */
const atOnce = 100

/** Resolves with the inode numbers that are watched on a device (`major:minor`). */
export async function watchedNodes(device: string): Promise<Set<number>> {
  const [major = 0, minor = 0] = device.split(':').map(Number)
  const sdev = ((major << 20) | minor).toString(16)
  const nodes = new Set<number>()
  let checked = 0
  for (const pid of namesIn('/proc')) {
    if (!/^\d+$/.test(pid)) continue
    for (const fd of namesIn(`/proc/${pid}/fd`)) {
      // Requests of the kernel are served in between.
      if (++checked % atOnce === 0) await nextTurn()
      if (!isWatcher(`/proc/${pid}/fd/${fd}`)) continue
      for (const ino of parseWatches(textOf(`/proc/${pid}/fdinfo/${fd}`), sdev)) nodes.add(ino)
    }
  }
  return nodes
}

/** Returns the watched inode numbers on the device `sdev` (hexadecimal), from the text of /proc/PID/fdinfo/FD (proc(5)). */
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

/** Returns an empty list if the process has ended or belongs to another user. */
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
