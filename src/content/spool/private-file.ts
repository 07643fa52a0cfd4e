// Files of the state folder are nobody else's to read: names, unsent content, what the service said.

import { chmodSync, closeSync, constants, existsSync, openSync } from 'node:fs'
import { whyNotOurs } from '../../own-folder.ts'
import type { Disk } from '../../world/disk.ts'
import { refused } from './journal-refusal.ts'

/** The folder is there, mode 0700. Throws EPERM where it is not ours alone, or holds what is not ours. */
export function makePrivateFolder(path: string, disk: Disk): void {
  disk.mkdirSync(path, { recursive: true, mode: 0o700 })
  const reason = whyNotOurs(path)
  if (reason !== undefined) throw refused('EPERM', reason)
  disk.chmodSync(path, 0o700)
}

/** A database at this path is there, mode 0600 with all its companions: SQLite gives new ones the mode of the first. */
export function makePrivateDatabase(path: string): void {
  const { O_WRONLY, O_CREAT, O_NOFOLLOW } = constants
  closeSync(openSync(path, O_WRONLY | O_CREAT | O_NOFOLLOW, 0o600))
  for (const file of [path, `${path}-wal`, `${path}-shm`, `${path}-journal`])
    if (existsSync(file)) chmodSync(file, 0o600)
}
