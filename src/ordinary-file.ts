// Files that are read again whenever what they hold is needed: settings, keys, certificates, passwords.

import type { Stats } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'

/** As text. Throws the system's error, and of what is no ordinary file one in words about "it". */
export async function readOrdinary(file: string): Promise<string> {
  checkOrdinary(await stat(file), 'it')
  return readFile(file, 'utf8')
}

/**
 * Throws of what is no ordinary file; `subject` begins the sentence. A pipe or a device would be waited for, perhaps for ever,
 * and what it gave once it does not give to the next who asks.
 */
export function checkOrdinary(stats: Stats, subject: string): void {
  if (stats.isDirectory()) throw Object.assign(new Error(`${subject} is a folder`), { code: 'EISDIR' })
  if (!stats.isFile())
    throw new Error(
      `${subject} is a pipe or a device, and is read more than once: put it into an ordinary file`,
    )
}
