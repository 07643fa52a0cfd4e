// Callers that will never see the answer they wait for: a fatal signal lets nothing of their program run again.

import { readFileSync } from 'node:fs'

/** Signals whose default does not end a program: CHLD, CONT, STOP, TSTP, TTIN, TTOU, URG, WINCH (signal(7)). */
const harmlessByDefault = [17, 18, 19, 20, 21, 22, 23, 28].reduce((mask, signal) => mask | bitOf(signal), 0n)

function bitOf(signal: number): bigint {
  return 1n << BigInt(signal - 1)
}

/** True for the text of /proc/PID/status where a signal is pending that ends the program: not blocked, ignored or handled. */
export function hasFatalSignal(status: string): boolean {
  const mask = (field: string): bigint => {
    const hex = new RegExp(`^${field}:\\s*([0-9a-f]+)$`, 'm').exec(status)?.[1]
    return BigInt(`0x${hex ?? '0'}`)
  }
  const spared = mask('SigBlk') | mask('SigIgn') | mask('SigCgt') | harmlessByDefault
  return ((mask('SigPnd') | mask('ShdPnd')) & ~spared) !== 0n
}

/** False also where the thread cannot be seen (another pid namespace; /proc of others hidden): then nobody knows. */
export function isDying(pid: number): boolean {
  if (pid === 0) return false
  try {
    return hasFatalSignal(readFileSync(`/proc/${pid}/status`, 'latin1'))
  } catch {
    return false
  }
}
