// Reads a small local file (rows, JSON) into memory.

import { readFile } from 'node:fs/promises'
import { CommandError } from './command-error.ts'

/** Throws CommandError if there is no such file, and other errors of the system as they are. */
export async function readLocal(file: string): Promise<Buffer> {
  return readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new CommandError(`there is no file ${file}`, { cause: error }) : error
  })
}
