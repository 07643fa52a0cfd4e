// Migrations to the tables in `database.ts`. A released one is never changed; a new one follows it.

import type { Kysely, Migration } from './kysely.ts'
import { createUsage } from './usage.ts'

export const migrations: Readonly<Record<string, Migration>> = {
  '0001_files': { up: createTables },
  '0002_detached': { up: createDetached },
  '0003_keys': { up: describeKeys },
  '0004_usage': { up: createUsage },
  '0005_contents_mark': { up: createContentsMark },
  '0006_administration': { up: createAdministration },
}

async function createTables(store: Kysely<unknown>): Promise<void> {
  await store.schema
    .createTable('projects')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull().unique())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('clock_ms', 'bigint', (column) => column.notNull())
    .execute()
  await store.schema
    .createTable('api_keys')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('project_id', 'text', (column) => column.notNull().references('projects.id'))
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute()
  await store.schema
    .createTable('nodes')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('project_id', 'text', (column) => column.notNull().references('projects.id'))
    .addColumn('parent_id', 'text', (column) => column.references('nodes.id'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('path', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('modified_at', 'bigint', (column) => column.notNull())
    .addColumn('size', 'bigint')
    .addColumn('mimetype', 'text')
    .addColumn('blob', 'text')
    // Decides which of two writers was first, and is the index that lists a folder by name.
    .addUniqueConstraint('nodes_name', ['parent_id', 'name'])
    .addUniqueConstraint('nodes_path', ['project_id', 'path'])
    .execute()
  await store.schema
    .createTable('small_contents')
    .addColumn('sha256', 'text', (column) => column.primaryKey())
    .addColumn('bytes', 'blob', (column) => column.notNull())
    .execute()
  await store.schema.createIndex('nodes_blob').on('nodes').column('blob').execute()
}

async function createDetached(store: Kysely<unknown>): Promise<void> {
  await store.schema
    .createTable('detached')
    .addColumn('project_id', 'text', (column) => column.notNull().references('projects.id'))
    .addColumn('path', 'text', (column) => column.notNull())
    .addColumn('detached_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('detached_path', ['project_id', 'path'])
    .execute()
}

// The table is replaced, because SQLite cannot drop a column that refers to another table.
async function describeKeys(store: Kysely<unknown>): Promise<void> {
  const known = store as Kysely<{
    api_keys: { id: string; hash: string; project_id: string; created_at: number }
    keys_made_anew: Record<'id' | 'hash' | 'created_at' | 'access' | 'path', string | number>
    key_projects: { key_id: string; project_id: string }
  }>
  const keys = await known.selectFrom('api_keys').selectAll().execute()
  await store.schema
    .createTable('keys_made_anew')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('name', 'text')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint')
    .addColumn('last_used_at', 'bigint')
    .addColumn('access', 'text', (column) => column.notNull())
    .addColumn('path', 'text', (column) => column.notNull())
    .execute()
  for (const { id, hash, created_at } of keys) {
    await known
      .insertInto('keys_made_anew')
      .values({ id, hash, created_at, access: 'write', path: '/' })
      .execute()
  }
  await store.schema.dropTable('api_keys').execute()
  await store.schema.alterTable('keys_made_anew').renameTo('api_keys').execute()
  await store.schema
    .createTable('key_projects')
    .addColumn('key_id', 'text', (column) => column.notNull().references('api_keys.id'))
    .addColumn('project_id', 'text', (column) => column.notNull().references('projects.id'))
    .addPrimaryKeyConstraint('key_projects_key', ['key_id', 'project_id'])
    .execute()
  for (const { id, project_id } of keys)
    await known.insertInto('key_projects').values({ key_id: id, project_id }).execute()
  await store.schema.createIndex('key_projects_project').on('key_projects').column('project_id').execute()
}

async function createContentsMark(store: Kysely<unknown>): Promise<void> {
  await store.schema
    .createTable('contents_mark')
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('starts', 'integer', (column) => column.notNull())
    .execute()
}

async function createAdministration(store: Kysely<unknown>): Promise<void> {
  await store.schema
    .createTable('administration')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('entry', 'text', (column) => column.notNull())
    .execute()
}
