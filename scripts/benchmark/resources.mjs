// Costs of a daemon: read from /proc, over it and the processes it started.

import { readFileSync } from 'node:fs'

const ticksPerSecond = 100

/** The process and everything below it. */
export function processTree(pid) {
  try {
    const below = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
    return [
      pid,
      ...below
        .split(' ')
        .filter(Boolean)
        .flatMap((child) => processTree(Number(child))),
    ]
  } catch {
    return []
  }
}

/** `peakBytes`: the most memory ever resident; `cpuSeconds`: user and system time so far. */
export function costsOf(pids) {
  let peakBytes = 0
  let cpuSeconds = 0
  for (const pid of pids) {
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8')
      peakBytes += Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')
      cpuSeconds += (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
    } catch {
      // Ended meanwhile.
    }
  }
  return { peakBytes, cpuSeconds }
}

/** Bytes resident now. */
export function residentOf(pids) {
  let bytes = 0
  for (const pid of pids) {
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8')
      bytes += Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024
    } catch {
      // Ended meanwhile.
    }
  }
  return bytes
}
