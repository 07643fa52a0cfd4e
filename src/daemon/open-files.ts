// The limit of open files, and how many a drive needs: for its databases, for files being written and read, and for connections.

import { readFile } from 'node:fs/promises'
import { DaemonError } from './daemon-error.ts'

export const fewestOpenFiles = 256

/** Resolves with the limit (Node.js has raised the soft one to the hard one); undefined if it is unknown or unlimited. */
export async function openFilesAllowed(): Promise<number | undefined> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '')
  const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1]
  return soft === undefined ? undefined : Number(soft)
}

/** Throws a DaemonError if the limit is too low for a drive. */
export async function checkOpenFileLimit(): Promise<void> {
  const allowed = await openFilesAllowed()
  if (allowed === undefined || allowed >= fewestOpenFiles) return
  throw new DaemonError(
    `this shell allows ${allowed} open files, and a drive needs ${fewestOpenFiles} or more; run: ulimit -n 4096`,
  )
}
