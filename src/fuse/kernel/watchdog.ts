// A shell that outlives us: when this process ends without a goodbye, it aborts the connection and detaches the mount, so
// that nobody hangs or meets "Transport endpoint is not connected". About 1 MB. Used instead of auto_unmount, which
// libfuse 3.14 and older ignore.

import { spawn, type ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { childEnvironment } from '../../child-environment.ts'
import type { Log } from '../../log.ts'

/** How a watchdog is known among all processes; mountpoint, connection and whom it watches follow. */
const watchdogName = 'docmount-watchdog'

/**
 * Reads until we say goodbye, are gone, or URG tells that our main thread is. Signals to our process group must not end
 * it before that. Aborting comes first: killed while a notification waits for the kernel, this process stays a zombie
 * that holds /dev/fuse open, and everybody who waits for an answer would wait for ever.
 */
const script = `
trap '' INT TERM HUP
trap : URG
read -r word
[ "$word" = goodbye ] && exit
if [ "$1" = root ]; then umount -f -- "$2"; umount -l -- "$2"
else
  echo 1 > "/sys/fs/fuse/connections/$3/abort"
  fusermount3 -u -z -- "$2"
fi`

export interface WatchedMount {
  readonly mountpoint: string
  readonly isRoot: boolean
  /** The kernel's number of the connection, where it is known. */
  readonly connection: string | undefined
  /** Kept from the shell: while it held the descriptor, the kernel would not see us go. */
  readonly fuseFd: number
}

export interface Watchdog {
  /** The mount is gone in good order; nothing is left to do. */
  dismiss(): void
}

/** Does its work without any of ours: whatever ends this process, kill -9 included. */
export function startWatchdog(mount: WatchedMount, log: Log): Watchdog {
  const { mountpoint, isRoot, connection = 'unknown', fuseFd } = mount
  const shell = [
    '/bin/sh',
    '-c',
    script,
    watchdogName,
    isRoot ? 'root' : 'user',
    mountpoint,
    connection,
    String(process.pid),
  ]
  let isDismissed = false
  // util-linux's setpriv makes the kernel signal the shell when our main thread ends, even where the rest of us cannot.
  // URG, because it is ignored until the shell has set its trap.
  let child = start(['setpriv', '--pdeathsig', 'URG', ...shell], fuseFd, () => {
    if (isDismissed) return
    child = start(shell, fuseFd, () => {
      if (!isDismissed)
        log.warn({ mountpoint }, 'the watchdog is gone: a crash would leave a dead mount behind')
    })
  })
  return {
    dismiss() {
      isDismissed = true
      child.stdin?.end('goodbye\n')
    },
  }
}

/** How long killed programs may take. */
const endLimitMs = 5_000

/**
 * Ends the watchdogs of processes that are gone and were mounted here. On a busy machine such a one may come to its work late, and
 * would take the next mount away, which it cannot tell from the dead one. Its work is left to the new mount.
 */
export async function endLateWatchdogs(mountpoint: string): Promise<void> {
  for (let waitedMs = 0; waitedMs < endLimitMs; waitedMs += 10) {
    const late = lateWatchdogs(mountpoint)
    if (late.length === 0) return
    // With the umount that it may just have started: both are in a group of their own.
    for (const pid of late) end(-pid)
    await sleep(10)
  }
}

/** Empty where nobody's processes can be seen. */
function lateWatchdogs(mountpoint: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.map(Number).filter((pid) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
      const at = words.indexOf(watchdogName)
      if (at === -1 || words[at + 2] !== mountpoint) return false
      const status = readFileSync(`/proc/${pid}/status`, 'utf8')
      // In a container of its own: the numbers it knows are not ours, nor is its folder.
      if (/^NSpid:\t\d+\t/m.test(status)) return false
      return /^PPid:\t(\d+)$/m.exec(status)?.[1] !== words[at + 4]
    } catch {
      // It has ended meanwhile.
      return false
    }
  })
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended, or is somebody else's.
  }
}

function start(command: readonly string[], fuseFd: number, whenGone: () => void): ChildProcess {
  const [program = '', ...args] = command
  const nothing = Array.from({ length: fuseFd - 2 }, () => 'ignore' as const)
  const child = spawn(program, args, {
    cwd: '/',
    env: childEnvironment(),
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore', ...nothing],
  })
  child.once('error', whenGone)
  child.once('exit', whenGone)
  // Our goodbye may come too late: no matter.
  child.stdin?.on('error', () => {})
  child.unref()
  if (child.stdin instanceof Socket) child.stdin.unref()
  return child
}
