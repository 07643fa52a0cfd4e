// What the state folder holds is nobody else's to read: names, unsent content, what the service said.

import { chmodSync, closeSync, existsSync, openSync } from 'node:fs'
import type { Disk } from '../../world/disk.ts'

/** The folder is there, mode 0700, whatever it was before. */
export function makePrivateFolder(path: string, disk: Disk): void {
  disk.mkdirSync(path, { recursive: true, mode: 0o700 })
  disk.chmodSync(path, 0o700)
}

/** A database at this path is there, mode 0600 with all its companions: SQLite gives new ones the mode of the first. */
export function makePrivateDatabase(path: string): void {
  closeSync(openSync(path, 'a', 0o600))
  for (const file of [path, `${path}-wal`, `${path}-shm`, `${path}-journal`])
    if (existsSync(file)) chmodSync(file, 0o600)
}
