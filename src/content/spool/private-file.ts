// Private files and folders: only the user may read the state folder, with its names, unsent content and service messages.

import { chmodSync, closeSync, constants, existsSync, openSync } from 'node:fs'
import { whyNotOurs } from '../../own-folder.ts'
import type { Disk } from '../../world/disk.ts'
import { refused } from './journal-refusal.ts'

/** Creates the folder, or sets its mode to 0700. Throws EPERM where others own it or files in it, or may write to it. */
export function makePrivateFolder(path: string, disk: Disk): void {
  disk.mkdirSync(path, { recursive: true, mode: 0o700 })
  const reason = whyNotOurs(path)
  if (reason !== undefined) throw refused('EPERM', reason)
  disk.chmodSync(path, 0o700)
}

/** Creates a database with mode 0600, also for existing companions: SQLite gives new ones the mode of the database. */
export function makePrivateDatabase(path: string): void {
  const { O_WRONLY, O_CREAT, O_NOFOLLOW } = constants
  closeSync(openSync(path, O_WRONLY | O_CREAT | O_NOFOLLOW, 0o600))
  for (const file of [path, `${path}-wal`, `${path}-shm`, `${path}-journal`])
    if (existsSync(file)) chmodSync(file, 0o600)
}
