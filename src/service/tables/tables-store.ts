// Tables of a project: created, found and listed. Their rows and documents are stored elsewhere.

import { randomUUID } from 'node:crypto'
import { type Kysely, sql } from '../store/kysely.ts'
import { ServiceError } from '../service-error.ts'
import { isUniqueViolation } from '../store/transact.ts'
import type { TableKind, TableRow, TablesDatabase, TablesStore } from './database.ts'
import { type TableBody } from './schemas.ts'
import { wireTypes } from './table-kind.ts'

/** One request lists all tables with their settings. */
const maxSettingsChars = 256 * 1024

export interface NewTable {
  readonly projectId: string
  readonly name: string
  readonly kind: TableKind
  readonly settings: Readonly<Record<string, unknown>>
  /** Default: a new one. */
  readonly id?: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
}

/** Up to `limit` tables of the project after `last`, oldest first. */
export function listTables(
  store: TablesStore,
  projectId: string,
  limit: number,
  last?: Pick<TableRow, 'created_at' | 'name'>,
): Promise<TableRow[]> {
  let query = store.selectFrom('tables').selectAll().where('project_id', '=', projectId)
  if (last !== undefined)
    query = query.where(sql<boolean>`(created_at, name) > (${last.created_at}, ${last.name})`)
  return query.orderBy('created_at').orderBy('name').limit(limit).execute()
}

/** Throws ServiceError 409 if the project has a table of this name, or the id exists, 413 for too large settings. */
export async function createTable(store: Kysely<TablesDatabase>, table: NewTable): Promise<TableRow> {
  const settings = JSON.stringify(table.settings)
  if (settings.length > maxSettingsChars)
    throw new ServiceError(413, `the settings of a table have at most ${maxSettingsChars} characters`)
  const row: TableRow = {
    id: table.id?.toLowerCase() ?? randomUUID(),
    project_id: table.projectId,
    name: table.name,
    kind: table.kind,
    created_at: table.createdAt,
    settings,
    inferred: '[]',
    asset_count: 0,
  }
  try {
    await store.insertInto('tables').values(row).execute()
  } catch (error) {
    if (isTaken(error))
      throw new ServiceError(409, `a table named ${table.name} or with this id already exists`)
    throw error
  }
  return row
}

/** Finds a table by its name, else by its id. */
export async function findTable(
  store: TablesStore,
  projectId: string,
  nameOrId: string,
): Promise<Pick<TableRow, 'id' | 'name'> | undefined> {
  const found = store.selectFrom('tables').select(['id', 'name']).where('project_id', '=', projectId)
  const byName = await found.where('name', '=', nameOrId).executeTakeFirst()
  return byName ?? (await found.where('id', '=', nameOrId.toLowerCase()).executeTakeFirst())
}

export async function listTableIds(store: TablesStore, projectId: string): Promise<string[]> {
  const rows = await store.selectFrom('tables').select('id').where('project_id', '=', projectId).execute()
  return rows.map(({ id }) => id)
}

/** Throws ServiceError 404 unless the project has this table. */
export async function getTable(store: TablesStore, projectId: string, id: string): Promise<TableRow> {
  const table = await store
    .selectFrom('tables')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('id', '=', id.toLowerCase())
    .executeTakeFirst()
  if (table === undefined) throw new ServiceError(404, `there is no table ${id}`)
  return table
}

/** Throws ServiceError 404 as `getTable`, 400 for a table of another kind. */
export async function getReconcileTable(
  store: TablesStore,
  projectId: string,
  id: string,
): Promise<TableRow> {
  const table = await getTable(store, projectId, id)
  if (table.kind !== 'reconcile') {
    throw new ServiceError(
      400,
      `${table.name} is a table of type ${wireTypes[table.kind]}: this needs type Reconcile`,
    )
  }
  return table
}

/** The table as the interface shows it. */
export function tableBody(table: TableRow): TableBody {
  return {
    name: table.name,
    type: wireTypes[table.kind],
    id: table.id,
    created_at: new Date(table.created_at).toISOString(),
    settings: JSON.parse(table.settings) as Record<string, unknown>,
  }
}

// SQLite has a separate error code for the primary key.
function isTaken(error: unknown): boolean {
  return (
    isUniqueViolation(error) ||
    (error instanceof Error && 'code' in error && error.code === 'SQLITE_CONSTRAINT_PRIMARYKEY')
  )
}
