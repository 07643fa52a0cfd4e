// Files that are read more than once: settings, keys, certificates, passwords.

import type { Stats } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'

/** Returns the file as text. Throws the system's errors, and those of `checkOrdinary`, which call the file "it". */
export async function readOrdinary(file: string): Promise<string> {
  checkOrdinary(await stat(file), 'it')
  return readFile(file, 'utf8')
}

/**
 * Throws unless the file is an ordinary one; the message begins with `subject`. Reading a pipe or a device may block for ever,
 * and a second read does not return the same content.
 */
export function checkOrdinary(stats: Stats, subject: string): void {
  if (stats.isDirectory()) throw Object.assign(new Error(`${subject} is a folder`), { code: 'EISDIR' })
  if (!stats.isFile())
    throw new Error(
      `${subject} is a pipe or a device, and is read more than once: put it into an ordinary file`,
    )
}
