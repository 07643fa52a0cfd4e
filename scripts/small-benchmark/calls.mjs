// System calls of a daemon, counted by strace: the same number on a busy machine as on a quiet one.

import { readFile } from 'node:fs/promises'
import { sleep, startProgram, waitFor } from '../benchmark/processes.mjs'

/** Told of, in this order. */
export const counted = ['pwrite64', 'fdatasync', 'fcntl', 'openat', 'unlink', 'read', 'write', 'epoll_pwait']

/** Begins to count; `end` answers how often each was called since. */
export async function countCalls(pid, file) {
  const args = ['--follow-forks', '--summary-only', '--summary-columns', 'calls,name', '--output', file]
  const tracer = startProgram('strace', [...args, '--attach', String(pid)], { logFile: `${file}.log` })
  await waitFor(
    'strace',
    async () => (await readFile(`/proc/${pid}/status`, 'utf8')).includes(`TracerPid:\t${tracer.pid}`),
    {
      program: tracer,
    },
  )
  await sleep(200)
  return {
    async end() {
      await tracer.stop()
      const rows = [...(await readFile(file, 'utf8')).matchAll(/^ *(\d+) +(\w+)$/gm)]
      const calls = new Map(rows.map(([, count, name]) => [name, Number(count)]))
      return counted.map((name) => calls.get(name) ?? 0)
    },
  }
}
