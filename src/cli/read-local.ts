// A whole local file in memory, for what is small: rows, JSON.

import { readFile } from 'node:fs/promises'
import { DaemonError } from '../daemon/daemon-error.ts'

/** Throws DaemonError where there is none; what else the system refuses passes. */
export async function readLocal(file: string): Promise<Buffer> {
  return readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new DaemonError(`there is no file ${file}`, { cause: error }) : error
  })
}
