// How many files this process may have open, and what a drive needs: its databases, the files being written and read, connections
// to the service and to programs.

import { readFile } from 'node:fs/promises'
import { DaemonError } from './daemon-error.ts'

export const fewestOpenFiles = 256

/** Node.js has raised the soft limit to the hard one. Undefined where the system does not tell, or sets none. */
export async function openFilesAllowed(): Promise<number | undefined> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '')
  const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1]
  return soft === undefined ? undefined : Number(soft)
}

/** Throws a DaemonError where a drive would soon have none left. */
export async function checkOpenFiles(): Promise<void> {
  const allowed = await openFilesAllowed()
  if (allowed === undefined || allowed >= fewestOpenFiles) return
  throw new DaemonError(
    `this shell allows ${allowed} open files, and a drive needs ${fewestOpenFiles} or more; run: ulimit -n 4096`,
  )
}
