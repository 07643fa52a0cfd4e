// The backups in one folder, each a subfolder.

import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { StartError } from '../start-error.ts'
import { lockDataDir } from '../store/service-lock.ts'
import { type Manifest, dropManifest, readManifest } from './manifest.ts'

/** Names of scheduled backups: `2026-11-22T10-11-12Z`. */
export const momentPattern: RegExp = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ$/
const unfinishedPattern = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.partial$/

export interface FoundBackup {
  readonly name: string
  /** Epoch milliseconds. */
  readonly madeAt: number
}

/** Complete backups, the latest first. Unfinished ones and other files are left out. */
export async function listFolder(folder: string): Promise<FoundBackup[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const found: FoundBackup[] = []
  for (const entry of entries) {
    if (!entry.isDirectory() || entry.name.endsWith('.partial')) continue
    const manifest: Manifest | undefined = await readManifest(join(folder, entry.name)).catch(() => undefined)
    if (manifest !== undefined) found.push({ name: entry.name, madeAt: Date.parse(manifest.made_at) })
  }
  return found.sort((a, b) => b.madeAt - a.madeAt)
}

/** Removes unfinished scheduled backups that a crash left, except one that another process is filling and has locked. */
export async function removeUnfinished(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    if (!unfinishedPattern.test(name)) continue
    try {
      const unlock = lockDataDir(join(folder, name))
      await rm(join(folder, name), { recursive: true, force: true })
      unlock()
    } catch (error) {
      if (!(error instanceof StartError)) throw error
    }
  }
}

/** Removes a backup, its manifest first: one that a crash left half-removed no longer counts as a backup. */
export async function removeFrom(folder: string, name: string): Promise<void> {
  await dropManifest(join(folder, name))
  await rm(join(folder, name), { recursive: true, force: true })
}
