// Threads that a pending signal will end: they never see the answer they wait for, so their requests can be given up.

import { readFileSync } from 'node:fs'

/** Signals whose default action does not end a program: CHLD, CONT, STOP, TSTP, TTIN, TTOU, URG, WINCH (signal(7)). */
const harmlessByDefault = [17, 18, 19, 20, 21, 22, 23, 28].reduce((mask, signal) => mask | bitOf(signal), 0n)

function bitOf(signal: number): bigint {
  return 1n << BigInt(signal - 1)
}

/** True if a pending signal, neither blocked, ignored nor handled, ends the program. `status`: text of /proc/PID/status. */
export function hasFatalSignal(status: string): boolean {
  const mask = (field: string): bigint => {
    const hex = new RegExp(`^${field}:\\s*([0-9a-f]+)$`, 'm').exec(status)?.[1]
    return BigInt(`0x${hex ?? '0'}`)
  }
  const spared = mask('SigBlk') | mask('SigIgn') | mask('SigCgt') | harmlessByDefault
  return ((mask('SigPnd') | mask('ShdPnd')) & ~spared) !== 0n
}

/**
 * True if a fatal signal is pending for the thread; false also where /proc does not show it (hidepid), and for pid 0, which the
 * kernel passes for a thread of another pid namespace.
 */
export function isDying(pid: number): boolean {
  if (pid === 0) return false
  try {
    return hasFatalSignal(readFileSync(`/proc/${pid}/status`, 'latin1'))
  } catch {
    return false
  }
}
