// Brings tables up to date. Each part of the service keeps its own list under its own name.

import { type Kysely, type Migration, Migrator } from './kysely.ts'

/** Runs those of `migrations` that were not run yet, in the order of their names. `part` names the list's own bookkeeping. */
export async function migrate(
  // oxlint-disable-next-line typescript/no-explicit-any -- migrations know no tables
  store: Kysely<any>,
  part: string,
  migrations: Readonly<Record<string, Migration>>,
): Promise<void> {
  const migrator = new Migrator({
    db: store,
    provider: { getMigrations: () => Promise.resolve(migrations) },
    migrationTableName: `${part}_migrations`,
    migrationLockTableName: `${part}_migrations_lock`,
  })
  const { error } = await migrator.migrateToLatest()
  if (error !== undefined)
    throw new Error(`the tables of ${part} could not be brought up to date`, { cause: error })
}
