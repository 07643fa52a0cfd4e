// A process that makes backups while its service serves: SQLite copies a database in one long call.

import { answerOf, serveTasks } from '../tables/serve-tasks.ts'
import { type FoundBackup, momentPattern } from './folder-backups.ts'
import type { Manifest } from './manifest.ts'
import { openPlace } from './places.ts'

/** A backup to be made, or, without a name, only a look at the latest one. */
export interface BackupTask {
  readonly to: string
  readonly dataDir: string
  readonly name?: string
  /** How many are kept of those whose names are moments. */
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
