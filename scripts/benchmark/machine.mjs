// The mount table, the kernel's caches, and what processes cost, read from /proc. A mount is touched only to unmount it.

import { readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { run, runWell } from './processes.mjs'

const ticksPerSecond = 100

export async function isMounted(path) {
  const table = await readFile('/proc/self/mountinfo', 'utf8')
  return table.split('\n').some((line) => line.split(' ')[4] === path)
}

/** Unmounts as a user would; lazily where that does not work in time. */
export async function unmount(path, { limitSeconds = 30 } = {}) {
  if (await isMounted(path)) await run('umount', [path], { limitSeconds })
  if (await isMounted(path)) await runWell('umount', ['-l', path])
}

/** Every program's pages, and all names and attributes the kernel remembers, are gone afterwards; not those of the programs that measure. */
export async function dropCaches() {
  await run('sync', [], { limitSeconds: 120 })
  await writeFile('/proc/sys/vm/drop_caches', '3')
  const programs =
    'ls -lR /proc/self/fd; head -c 1 /etc/hostname; grep -rc x /etc/hostname; dd if=/dev/null of=/dev/null; cp --version; rm --version; timeout 1 true; "$1" -e 0'
  await run('sh', ['-c', `{ ${programs}; } > /dev/null 2>&1`, 'sh', process.execPath])
}

/** Files of a folder are in memory afterwards. */
export function warmFiles(folder) {
  return runWell('sh', ['-c', 'find "$1" -type f -exec cat {} + > /dev/null', 'sh', folder], {
    limitSeconds: 300,
  })
}

/** Child processes of one. */
export function childrenOf(pid) {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return text.split(' ').filter(Boolean).map(Number)
}

/** The process and everything below it. */
export function processTree(pid) {
  try {
    return [pid, ...childrenOf(pid).flatMap(processTree)]
  } catch {
    return []
  }
}

/** `peakBytes`: the most memory ever resident; `residentBytes`: now; `cpuSeconds`: user and system time so far, of children that ended too where `withEnded`. */
export function costsOf(pids, { withEnded = false } = {}) {
  const costs = { peakBytes: 0, residentBytes: 0, cpuSeconds: 0 }
  for (const pid of pids) {
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8')
      costs.peakBytes += Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024
      costs.residentBytes += Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '')
      const ticks = stat.split(' ').slice(11, withEnded ? 15 : 13)
      costs.cpuSeconds += ticks.reduce((sum, field) => sum + Number(field), 0) / ticksPerSecond
    } catch {
      // Ended meanwhile.
    }
  }
  return costs
}

/** Waits until the processor is at rest: what a start reads and compiles, and what follows a save, is over. */
export async function restOf(pids) {
  let cpuSeconds = -1
  for (let tries = 0; tries < 30 && costsOf(pids()).cpuSeconds !== cpuSeconds; tries++) {
    cpuSeconds = costsOf(pids()).cpuSeconds
    await sleep(500)
  }
}
