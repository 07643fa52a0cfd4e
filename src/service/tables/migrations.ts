// Migrations to the tables in `database.ts`. A released one is never changed; a new one follows it.

import type { Kysely, Migration } from '../store/kysely.ts'
import { countedTexts } from '../store/counted-text.ts'
import { countRowsOf, countTextOf } from '../store/usage.ts'

export const tableMigrations: Readonly<Record<string, Migration>> = {
  '0001_tables': { up: createTables },
  '0002_usage': { up: (store) => countRowsOf(store, 'documents', 'blob is not null') },
  '0003_listing': { up: indexTablesByTime },
  '0004_usage_of_rows': { up: countTables },
  '0005_runs_by_time': { up: indexRunsByTime },
}

/** Tables, their rows and runs count towards the quota of a project, like documents. */
async function countTables(store: Kysely<unknown>): Promise<void> {
  for (const counted of countedTexts) await countTextOf(store, counted)
}

/** For the removal of old runs. */
async function indexRunsByTime(store: Kysely<unknown>): Promise<void> {
  await store.schema.createIndex('runs_time').on('runs').column('created_at').execute()
}

/** For the listing of tables, page by page. */
async function indexTablesByTime(store: Kysely<unknown>): Promise<void> {
  await store.schema
    .createIndex('tables_time')
    .on('tables')
    .columns(['project_id', 'created_at', 'name'])
    .execute()
}

async function createTables(store: Kysely<unknown>): Promise<void> {
  await store.schema
    .createTable('tables')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('project_id', 'text', (column) => column.notNull().references('projects.id'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('settings', 'text', (column) => column.notNull())
    .addColumn('inferred', 'text', (column) => column.notNull())
    .addColumn('asset_count', 'bigint', (column) => column.notNull())
    // Decides which of two requests was first.
    .addUniqueConstraint('tables_name', ['project_id', 'name'])
    .execute()
  await store.schema
    .createTable('assets')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('table_id', 'text', (column) => column.notNull().references('tables.id'))
    .addColumn('number', 'bigint', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('row_data', 'text', (column) => column.notNull())
    .addUniqueConstraint('assets_number', ['table_id', 'number'])
    .execute()
  await store.schema
    .createTable('documents')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('project_id', 'text', (column) => column.notNull().references('projects.id'))
    .addColumn('table_id', 'text', (column) => column.notNull().references('tables.id'))
    .addColumn('filename', 'text', (column) => column.notNull())
    .addColumn('mimetype', 'text', (column) => column.notNull())
    .addColumn('size', 'bigint', (column) => column.notNull())
    .addColumn('blob', 'text')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute()
  await store.schema.createIndex('documents_blob').on('documents').column('blob').execute()
  await store.schema
    .createTable('runs')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('table_id', 'text', (column) => column.notNull().references('tables.id'))
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('input', 'text', (column) => column.notNull())
    .addColumn('data', 'text')
    .addColumn('reasoning', 'text')
    .execute()
}
