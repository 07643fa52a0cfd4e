// The main module of a process that makes backups: SQLite copies a database in one long call, which would block the service.

import { answerOf, serveTasks } from '../tables/serve-tasks.ts'
import { type FoundBackup, momentPattern } from './folder-backups.ts'
import type { Manifest } from './manifest.ts'
import { openPlace } from './places.ts'

/** A backup to be made; without a name, only the latest one is looked up. */
export interface BackupTask {
  readonly to: string
  readonly dataDir: string
  readonly name?: string
  /** How many scheduled backups, whose names are times, are kept. */
  readonly keep: number
}

export interface BackupAnswer {
  readonly latest: FoundBackup | undefined
  readonly made: Manifest | undefined
}

serveTasks((task: BackupTask) => answerOf(() => work(task)))

async function work({ to, dataDir, name, keep }: BackupTask): Promise<BackupAnswer> {
  const place = await openPlace(to)
  const made = name === undefined ? undefined : await place.make(dataDir, name)
  const all = await place.list()
  if (made !== undefined) {
    const old = all.filter((backup) => momentPattern.test(backup.name)).slice(keep)
    if (old.length > 0) await place.remove(old.map((backup) => backup.name))
  }
  return { latest: all[0], made }
}
