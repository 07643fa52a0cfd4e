// The usage of projects, counted by triggers on every added and deleted row, and their quotas.

import { type Kysely, sql } from './kysely.ts'
import { type Limits, exceeds } from '../limits.ts'
import { ServiceError } from '../service-error.ts'
import { type CountedText, bytesOf } from './counted-text.ts'
import type { Store } from './database.ts'
import { prepared } from './prepared.ts'

/** `documents` is a count. `bytes` includes table rows and runs. */
export interface Usage {
  readonly documents: number
  readonly bytes: number
}

/** 0 is no limit. */
export type Quota = Pick<Limits, 'projectBytes' | 'projectDocuments'>

/** Undefined without limits, as in most services: every upload sends the quota to the writer. */
export function quotaOf({ projectBytes, projectDocuments }: Limits): Quota | undefined {
  return projectBytes === 0 && projectDocuments === 0 ? undefined : { projectBytes, projectDocuments }
}

const selectUsage = prepared((store, params: { projectId: string }) =>
  store.selectFrom('usage').select(['documents', 'bytes']).where('project_id', '=', params.projectId),
)

async function readUsage(store: Store, projectId: string): Promise<Usage> {
  const [usage] = await selectUsage(store, { projectId })
  return usage ?? { documents: 0, bytes: 0 }
}

/** Returns how many bytes a document may have that is about to be received. Throws ServiceError 507 if the project is full. */
export async function roomFor(store: Store, projectId: string, quota: Quota): Promise<number> {
  if (quota.projectBytes === 0 && quota.projectDocuments === 0) return Infinity
  const { documents, bytes } = await readUsage(store, projectId)
  checkUsage({ documents: documents + 1, bytes }, quota)
  return quota.projectBytes === 0 ? Infinity : quota.projectBytes - bytes
}

/** For the transaction that added a document: uploads that arrived meanwhile are counted, too. Throws ServiceError 507. */
export async function checkQuota(store: Store, projectId: string, quota: Quota): Promise<void> {
  if (quota.projectBytes === 0 && quota.projectDocuments === 0) return
  checkUsage(await readUsage(store, projectId), quota)
}

/** The `limit` projects with the most bytes. */
export function listLargest(store: Store, limit: number): Promise<(Usage & { name: string })[]> {
  return store
    .selectFrom('usage')
    .innerJoin('projects', 'projects.id', 'usage.project_id')
    .select(['projects.name', 'usage.documents', 'usage.bytes'])
    .orderBy('usage.bytes', 'desc')
    .limit(limit)
    .execute()
}

export function fullProject(): ServiceError {
  return new ServiceError(507, 'the project has no room for these bytes: delete something first')
}

function checkUsage({ documents, bytes }: Usage, { projectBytes, projectDocuments }: Quota): void {
  if (exceeds(documents, projectDocuments))
    throw new ServiceError(507, `the project has its ${projectDocuments} documents: delete one first`)
  if (exceeds(bytes, projectBytes)) throw fullProject()
}

/** Creates the table of counts, and triggers on `nodes`; SQLite only (PostgreSQL: `postgres/migrations.ts`). */
export async function createUsage(store: Kysely<unknown>): Promise<void> {
  await store.schema
    .createTable('usage')
    .addColumn('project_id', 'text', (column) => column.primaryKey())
    .addColumn('documents', 'bigint', (column) => column.notNull())
    .addColumn('bytes', 'bigint', (column) => column.notNull())
    .execute()
  await countRowsOf(store, 'nodes', "kind = 'file'")
  await sql`create trigger usage_of_projects after delete on projects begin
    delete from usage where project_id = old.id; end`.execute(store)
}

/**
 * Counts the rows of a table with `project_id` and `size`: the present ones now, later ones by triggers. `condition` begins with
 * a column's name: the triggers put `new.` and `old.` before it.
 */
export async function countRowsOf(store: Kysely<unknown>, table: string, condition: string): Promise<void> {
  const of = (row: string): ReturnType<typeof sql.raw> => sql.raw(`${row}.${condition}`)
  await sql`insert into usage (project_id, documents, bytes)
    select project_id, count(*), sum(size) from ${sql.raw(table)} where ${sql.raw(condition)} group by project_id
    on conflict (project_id) do update set
      documents = documents + excluded.documents, bytes = bytes + excluded.bytes`.execute(store)
  await sql`create trigger ${sql.raw(`usage_of_new_${table}`)} after insert on ${sql.raw(table)} when ${of('new')} begin
    insert into usage (project_id, documents, bytes) values (new.project_id, 1, new.size)
    on conflict (project_id) do update set documents = documents + 1, bytes = bytes + excluded.bytes; end`.execute(
    store,
  )
  await sql`create trigger ${sql.raw(`usage_of_old_${table}`)} after delete on ${sql.raw(table)} when ${of('old')} begin
    update usage set documents = documents - 1, bytes = bytes - old.size where project_id = old.project_id; end`.execute(
    store,
  )
}

/** Counts the bytes of texts, present ones now and later ones by triggers. They do not count as documents. */
export async function countTextOf(store: Kysely<unknown>, counted: CountedText): Promise<void> {
  const { table, projectOf } = counted
  const bytes = (row: string): string => bytesOf(counted, row, (text) => `length(cast(${text} as blob))`)
  const grow = 'on conflict (project_id) do update set bytes = bytes + excluded.bytes'
  await sql
    .raw(`insert into usage (project_id, documents, bytes)
    select ${projectOf(table)}, 0, sum(${bytes(table)}) from ${table} where true group by 1 ${grow}`)
    .execute(store)
  await sql
    .raw(`create trigger usage_of_new_${table} after insert on ${table} begin
    insert into usage (project_id, documents, bytes) values (${projectOf('new')}, 0, ${bytes('new')}) ${grow}; end`)
    .execute(store)
  await sql
    .raw(`create trigger usage_of_old_${table} after delete on ${table} begin
    update usage set bytes = bytes - ${bytes('old')} where project_id = ${projectOf('old')}; end`)
    .execute(store)
}
