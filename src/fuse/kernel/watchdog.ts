// The watchdog: a shell that outlives this process. Unless it was dismissed, it then aborts the connection and detaches the
// mount, so that no program hangs or gets "Transport endpoint is not connected". It takes about 1 MB, and replaces
// auto_unmount, which libfuse 3.14 and older ignore.

import { spawn, type ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { childEnvironment } from '../../child-environment.ts'
import type { Log } from '../../log.ts'

/** Argument by which a watchdog is found in /proc/PID/cmdline; `user` or `root`, mountpoint, connection and our pid follow. */
const watchdogName = 'docmount-watchdog'

/**
 * Reads until it gets `goodbye`, the pipe ends with our process, or URG reports the end of our main thread. Signals to our
 * process group must not end it before. The abort comes first: if this process is killed while a notification blocks in the
 * kernel, it stays a zombie that holds /dev/fuse open, and programs would wait for their answers for ever.
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
  /** Not inherited by the shell: while it had the descriptor open, the kernel would not notice our end. */
  readonly fuseFd: number
}

export interface Watchdog {
  /** Ends the watchdog: the mount is gone in good order. */
  dismiss(): void
}

/** Starts a watchdog. It works however this process ends, kill -9 included. */
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
  // setpriv (util-linux) lets the kernel signal the shell when our main thread ends, even if another thread is stuck.
  // URG, because it does nothing before the shell has set its trap. Without setpriv, the pipe alone has to do.
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

/** Longest wait for killed watchdogs to end. */
const endLimitMs = 5_000

/**
 * Ends the watchdogs of processes that are gone and had a mount here. On a busy machine such a watchdog may run late, and would
 * detach the next mount, which it cannot tell from the dead one. The new mount removes the dead one itself.
 */
export async function endLateWatchdogs(mountpoint: string): Promise<void> {
  for (let waitedMs = 0; waitedMs < endLimitMs; waitedMs += 10) {
    const late = lateWatchdogs(mountpoint)
    if (late.length === 0) return
    // Its whole process group, with the umount it may just have started.
    for (const pid of late) end(-pid)
    await sleep(10)
  }
}

/** Returns the process ids of such watchdogs; none where /proc hides other processes. */
function lateWatchdogs(mountpoint: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.map(Number).filter((pid) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
      const at = words.indexOf(watchdogName)
      if (at === -1 || words[at + 2] !== mountpoint) return false
      const status = readFileSync(`/proc/${pid}/status`, 'utf8')
      // In another pid namespace: its numbers and its mountpoint are not ours.
      if (/^NSpid:\t\d+\t/m.test(status)) return false
      return /^PPid:\t(\d+)$/m.exec(status)?.[1] !== words[at + 4]
    } catch {
      // The process has ended meanwhile.
      return false
    }
  })
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended, or belongs to another user.
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
  // The shell may end before it reads our goodbye.
  child.stdin?.on('error', () => {})
  child.unref()
  if (child.stdin instanceof Socket) child.stdin.unref()
  return child
}
