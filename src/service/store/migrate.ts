// Migrations of the tables. Each part of the service has its own list of them, under its own name.
//
// Processes of one service are updated one after the other, so the version before still runs, and starts, on the tables of this
// one. A migration therefore only adds, and breaks nothing in that version. Removals are a migration of their own, one version
// later, named NNNN_contract_…: a program that does not know it refuses to start.

import { StartError } from '../start-error.ts'
import { type Kysely, type Migration, Migrator } from './kysely.ts'

export type Migrations = Readonly<Record<string, Migration>>

/** Names of migrations, in their order. */
export interface Schema {
  /** Not run yet. */
  readonly pending: readonly string[]
  /** Run by a newer program; this one works with their tables. */
  readonly newer: readonly string[]
  /** There are no tables yet. */
  readonly isNew: boolean
}

/** The lists of migrations, by the name of their part. */
export type Parts = Readonly<Record<string, Migrations>>

// oxlint-disable-next-line typescript/no-explicit-any -- migrations know no tables
type AnyStore = Kysely<any>

/**
 * Runs the `migrations` that are pending, in the order of their names; `part` names the table that records them. Throws as
 * `schemaOf`.
 */
export async function migrate(store: AnyStore, part: string, migrations: Migrations): Promise<void> {
  const migrator = new Migrator({
    db: store,
    // Called under the lock of the migrations, so no other program changes the tables.
    provider: {
      getMigrations: async () => {
        const { newer } = await schemaOf(store, part, migrations)
        return { ...migrations, ...Object.fromEntries(newer.map((name) => [name, alreadyRun])) }
      },
    },
    migrationTableName: tableOf(part),
    migrationLockTableName: `${tableOf(part)}_lock`,
  })
  const { error } = await migrator.migrateToLatest()
  if (error instanceof StartError) throw error
  if (error !== undefined)
    throw new Error(`the tables of ${part} could not be brought up to date`, { cause: error })
}

/** Compares the list with the recorded migrations. Throws a StartError if a newer program removed tables or columns. */
export async function schemaOf(store: AnyStore, part: string, migrations: Migrations): Promise<Schema> {
  const run = await namesRun(store, tableOf(part))
  const known = Object.keys(migrations).toSorted()
  const newer = run.filter((name) => !known.includes(name)).toSorted()
  const last = known.at(-1) ?? ''
  const refused = newer.find((name) => name < last || /^\d+_contract_/.test(name))
  if (refused !== undefined)
    throw new StartError(
      `the database is of a newer docmount (${refused}): run that version, or restore a backup from before it`,
    )
  return { pending: known.filter((name) => !run.includes(name)), newer, isNew: run.length === 0 }
}

/** The schema of all parts together; without a `store`, of a new one. Throws as `schemaOf`. */
export async function schemaOfAll(store: AnyStore | undefined, parts: Parts): Promise<Schema> {
  const schemas = await Promise.all(
    Object.entries(parts).map(async ([part, migrations]) =>
      store === undefined
        ? { pending: Object.keys(migrations), newer: [], isNew: true }
        : schemaOf(store, part, migrations),
    ),
  )
  return {
    pending: schemas.flatMap(({ pending }) => pending),
    newer: schemas.flatMap(({ newer }) => newer),
    isNew: schemas.every(({ isNew }) => isNew),
  }
}

/** Migrates all parts, in their order. Throws as `schemaOf`. */
export async function migrateAll(store: AnyStore, parts: Parts): Promise<void> {
  for (const [part, migrations] of Object.entries(parts)) await migrate(store, part, migrations)
}

/** Stands in for a newer program's migration: Kysely wants every recorded one in the list, and never runs it again. */
const alreadyRun: Migration = { up: () => Promise.reject(new TypeError('a newer program has run it')) }

function tableOf(part: string): string {
  return `${part}_migrations`
}

async function namesRun(store: AnyStore, table: string): Promise<string[]> {
  const tables = await store.introspection.getTables({ withInternalKyselyTables: true })
  if (!tables.some(({ name }) => name === table)) return []
  const rows = await store.selectFrom(table).select('name').execute()
  return rows.map(({ name }) => String(name))
}
