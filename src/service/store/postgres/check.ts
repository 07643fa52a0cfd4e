// Checks a shared store for damage: documents without bytes, bytes that no sweep will ever delete, nodes outside of any folder.
// Changes nothing; services may run meanwhile.

import { Readable } from 'node:stream'
import { Kysely, sql } from '../kysely.ts'
import { silentLog } from '../../../log.ts'
import type { SharedBackend } from '../../blobs/backend.ts'
import { openSharedBackend } from '../../blobs/open-shared-backend.ts'
import { countedTexts } from '../counted-text.ts'
import type { Checked } from '../../check/check-folder.ts'
import { documentsWith } from '../../check/document-names.ts'
import { stateOf } from '../../blobs/intact.ts'
import type { Database, Store } from '../database.ts'
import type { SharedPlace } from '../opened-store.ts'
import { findKeys } from './blobs.ts'
import { DatabaseClock } from './clock.ts'
import { type SharedStore, sharedStore } from './database.ts'
import { postgresDialect } from './dialect.ts'
import { textBytes } from './migrations.ts'
import { postgresSchema } from './open-postgres.ts'
import { openPool } from './pool.ts'

const batchBlobs = 500
/** Twice the age at which a service sweeps bytes without a row. */
const orphanMs = 2 * 86_400_000

/** `orphanMs`: least age of reported bytes without a row; default: two days. Throws a StartError as `postgresSchema`. */
export async function checkStore(place: SharedPlace, options: { orphanMs?: number } = {}): Promise<Checked> {
  await postgresSchema(place)
  const pool = openPool(place.database, silentLog, 2)
  const kysely = new Kysely<Database>({ dialect: postgresDialect(pool) })
  const store = sharedStore(kysely)
  const findings: string[] = []
  try {
    const clock = new DatabaseClock()
    await clock.set(kysely)
    const backend = await openSharedBackend(place, clock.now)
    for (const [sentence, rows] of await checkTables(store))
      for (const { name } of rows) findings.push(`${sentence}: ${name}`)
    const contents = await checkContents(kysely, backend, findings)
    for await (const keys of backend.listBefore(clock.now() - (options.orphanMs ?? orphanMs))) {
      const known = new Set(keys.length === 0 ? [] : await findKeys(kysely, keys))
      for (const key of keys) if (!known.has(key)) findings.push(`bytes without a row: ${key}`)
    }
    const { documents } = await store
      .selectFrom('usage')
      .select(sql<number>`coalesce(sum(documents), 0)::bigint`.as('documents'))
      .executeTakeFirstOrThrow()
    return { documents, contents, findings }
  } finally {
    await kysely.destroy()
  }
}

type Named = readonly { readonly name: string }[]

/** Each check is one statement, which sees one moment. Deleted nodes that are not cleared yet may be in no folder. */
async function checkTables(store: SharedStore): Promise<(readonly [string, Named])[]> {
  const ask = async (sentence: string, query: string): Promise<readonly [string, Named]> => [
    sentence,
    (await sql.raw<{ name: string }>(query).execute(store)).rows,
  ]
  const isLive = `not exists (select 1 from detached where detached.project_id = node.project_id
    and node.path > detached.path || '/' and node.path < detached.path || '0'
    and node.modified_at <= detached.detached_at)`
  const texts = countedTexts
    .map((counted) => {
      const { table, projectOf } = counted
      return `union all select ${projectOf(table)}, 0, ${textBytes(counted, table)} from ${table}`
    })
    .join('\n')
  return [
    await ask(
      'a node that is in no folder',
      `select node.path as name from nodes as node left join nodes as parent on parent.id = node.parent_id
        where node.path <> '/' and ${isLive} and (parent.id is null or parent.kind <> 'folder'
          or parent.project_id <> node.project_id
          or node.path <> (case parent.path when '/' then '' else parent.path end) || '/' || node.name)`,
    ),
    await ask(
      'a document without content',
      `select path as name from nodes as node where kind = 'file'
        and not exists (select 1 from blobs where sha256 = node.blob and blobs.size = node.size)`,
    ),
    await ask(
      'content that nothing refers to and nothing will take away',
      `select sha256 as name from blobs where unreferenced_since is null
        and not exists (select 1 from nodes where blob = sha256)
        and not exists (select 1 from documents where blob = sha256)`,
    ),
    await ask(
      'a project that is counted wrongly',
      `select project_id as name from usage full join (select project_id, sum(documents) as documents, sum(size) as bytes
          from (select project_id, 1 as documents, size from nodes where blob is not null
            union all select project_id, 1, size from documents where blob is not null ${texts}) as counted
          group by project_id) as real using (project_id)
        where coalesce(usage.documents, 0) <> coalesce(real.documents, 0)
          or coalesce(usage.bytes, 0) <> coalesce(real.bytes, 0)`,
    ),
  ]
}

/** Reads all bytes, and adds damage to `findings`. Returns the number of contents. */
async function checkContents(kysely: Store, backend: SharedBackend, findings: string[]): Promise<number> {
  const store = sharedStore(kysely)
  let count = 0
  for (let last = ''; ;) {
    const rows = await store
      .selectFrom('blobs')
      .selectAll()
      .where('sha256', '>', last)
      .orderBy('sha256')
      .limit(batchBlobs)
      .execute()
    for (const { sha256, size, bytes, key } of rows) {
      const open = async (start: number, end: number): Promise<Readable | undefined> =>
        key === null ? Readable.from([bytes!]) : backend.stream(key, start, end)
      const state = await stateOf({ sha256, size }, open, Infinity)
      // A sweep may have deleted it meanwhile, or an upload replaced it.
      if (state === 'intact' || !(await isThere(store, sha256, key))) continue
      const documents = await documentsWith(kysely, sha256)
      const names = documents.length === 0 ? [sha256] : documents
      findings.push(...names.map((name) => `content that is ${state}: ${name}`))
    }
    count += rows.length
    if (rows.length < batchBlobs) return count
    last = rows.at(-1)!.sha256
  }
}

async function isThere(store: SharedStore, sha256: string, key: string | null): Promise<boolean> {
  const rows = await store.selectFrom('blobs').select('key').where('sha256', '=', sha256).execute()
  return rows.some((row) => row.key === key)
}
