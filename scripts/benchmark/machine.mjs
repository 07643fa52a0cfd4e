// Mount table, kernel caches, and costs of processes, from /proc. Mounts are not accessed, only unmounted: a dead one would hang.

import { readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { run, runWell } from './processes.mjs'

const ticksPerSecond = 100

export async function isMounted(path) {
  const table = await readFile('/proc/self/mountinfo', 'utf8')
  return table.split('\n').some((line) => line.split(' ')[4] === path)
}

/** Unmounts; lazily if that fails or takes too long. */
export async function unmount(path, { limitSeconds = 30 } = {}) {
  if (await isMounted(path)) await run('umount', [path], { limitSeconds })
  if (await isMounted(path)) await runWell('umount', ['-l', path])
}

/** Empties the kernel's caches of pages, names and attributes; then loads the programs that measure into them again. */
export async function dropCaches() {
  await run('sync', [], { limitSeconds: 120 })
  await writeFile('/proc/sys/vm/drop_caches', '3')
  const programs =
    'ls -lR /proc/self/fd; head -c 1 /etc/hostname; grep -rc x /etc/hostname; dd if=/dev/null of=/dev/null; cp --version; rm --version; timeout 1 true; "$1" -e 0'
  await run('sh', ['-c', `{ ${programs}; } > /dev/null 2>&1`, 'sh', process.execPath])
}

/** Reads all files of a folder, so that the page cache has them. */
export function warmFiles(folder) {
  return runWell('sh', ['-c', 'find "$1" -type f -exec cat {} + > /dev/null', 'sh', folder], {
    limitSeconds: 300,
  })
}

/** Returns the pids of a process's children. */
export function childrenOf(pid) {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return text.split(' ').filter(Boolean).map(Number)
}

/** Returns the pids of a process and all its descendants. */
export function processTree(pid) {
  try {
    return [pid, ...childrenOf(pid).flatMap(processTree)]
  } catch {
    return []
  }
}

/** Returns sums over `pids`: peak and current resident memory, processor seconds (`withEnded`: also those of ended children). */
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
      // Ignored: the process has ended.
    }
  }
  return costs
}

/** Waits until the processes use no processor time: background work of a start or a save is done. */
export async function restOf(pids) {
  let cpuSeconds = -1
  for (let tries = 0; tries < 30 && costsOf(pids()).cpuSeconds !== cpuSeconds; tries++) {
    cpuSeconds = costsOf(pids()).cpuSeconds
    await sleep(500)
  }
}
