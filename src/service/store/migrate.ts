// Brings tables up to date. Each part of the service keeps its own list under its own name.
//
// Nodes are replaced one after the other, so those of the version before go on, and start, on tables of this one. An entry
// therefore adds, and breaks nothing that the version before does. To take something away is an entry of its own, one version
// later, named NNNN_contract_…: a program that does not know it is refused.

import { StartError } from '../start-error.ts'
import { type Kysely, type Migration, Migrator } from './kysely.ts'

export type Migrations = Readonly<Record<string, Migration>>

/** Names of entries, in their order. */
export interface Schema {
  /** Not run yet. */
  readonly pending: readonly string[]
  /** Run by a newer program; this one works on their tables. */
  readonly newer: readonly string[]
  /** There are no tables yet. */
  readonly isNew: boolean
}

/** Each list with its name. */
export type Parts = Readonly<Record<string, Migrations>>

// oxlint-disable-next-line typescript/no-explicit-any -- migrations know no tables
type AnyStore = Kysely<any>

/** Runs those of `migrations` that were not run yet, in the order of their names. `part` names the list's own bookkeeping. Throws as `schemaOf`. */
export async function migrate(store: AnyStore, part: string, migrations: Migrations): Promise<void> {
  const migrator = new Migrator({
    db: store,
    // Asked while no other program changes the tables.
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

/** Changes nothing. Throws a StartError where a newer program has taken away what this one needs. */
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

/** Of all parts together; of a store that is not made yet where absent. Throws as `schemaOf`. */
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

/** Brings all parts up to date, in their order. Throws as `schemaOf`. */
export async function migrateAll(store: AnyStore, parts: Parts): Promise<void> {
  for (const [part, migrations] of Object.entries(parts)) await migrate(store, part, migrations)
}

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
