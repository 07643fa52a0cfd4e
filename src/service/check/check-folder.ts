// Checks a data folder for damage: the database as SQLite checks it, and every content against its hash. Changes nothing; the
// service may run meanwhile.

import { hash } from 'node:crypto'
import { join } from 'node:path'
import { DiskBackend } from '../blobs/disk.ts'
import { stateOf } from '../blobs/intact.ts'
import { sql } from '../store/kysely.ts'
import { isDamage } from '../store/connection.ts'
import type { Store } from '../store/database.ts'
import { embeddedSchema, openEmbeddedReader } from '../store/open-embedded.ts'
import { readSmall } from '../store/small-contents.ts'
import { documentsWith } from './document-names.ts'

const batchContents = 500

/** The result of a check; `documents` and `contents` are counts. */
export interface Checked {
  readonly documents: number
  readonly contents: number
  /** One sentence each. */
  readonly findings: readonly string[]
}

/** Reads every byte of the folder. Throws a StartError for a database of a newer version. */
export async function checkFolder(dataDir: string): Promise<Checked> {
  const store = openEmbeddedReader(dataDir)
  try {
    await embeddedSchema(dataDir)
    const findings = await checkDatabase(store)
    // The list of durable folders, empty here, is for uploads only.
    const backend = new DiskBackend(join(dataDir, 'blobs'), [])
    let contents = 0
    for await (const content of contentsOf(store)) {
      contents++
      const state = await stateOfContent(store, backend, content)
      if (state === 'intact') continue
      const documents = await documentsWith(store, content.sha256)
      // The document may have been deleted, or stored again, since the content was read.
      if (documents.length === 0 || (await stateOfContent(store, backend, content)) === 'intact') continue
      findings.push(...documents.map((name) => `content that is ${state}: ${name}`))
    }
    const { documents } = await store
      .selectFrom('usage')
      .select((of) => of.fn.coalesce(of.fn.sum<number>('documents'), sql<number>`0`).as('documents'))
      .executeTakeFirstOrThrow()
    return { documents, contents, findings }
  } catch (error) {
    if (!isDamage(error)) throw error
    return {
      documents: 0,
      contents: 0,
      findings: ['the database is damaged, and nothing else can be looked at'],
    }
  } finally {
    await store.destroy()
  }
}

async function checkDatabase(store: Store): Promise<string[]> {
  const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(store)
  return rows
    .map((row) => row.integrity_check)
    .filter((found) => found !== 'ok')
    .map((found) => `the database: ${found}`)
}

interface KnownContent {
  readonly sha256: string
  readonly size: number
}

/** Contents of files, then those to which only documents in tables refer. */
async function* contentsOf(store: Store): AsyncGenerator<KnownContent> {
  for (const [table, condition] of [
    ['nodes', sql`true`],
    ['documents', sql`not exists (select 1 from nodes where nodes.blob = documents.blob)`],
  ] as const) {
    for (let last = ''; ;) {
      const { rows } =
        await sql<KnownContent>`select blob as sha256, max(size) as size from ${sql.table(table)}
        where blob > ${last} and ${condition} group by blob order by blob limit ${batchContents}`.execute(
          store,
        )
      yield* rows
      if (rows.length < batchContents) break
      last = rows.at(-1)!.sha256
    }
  }
}

/** Reads the whole content, without a time limit. */
async function stateOfContent(
  store: Store,
  backend: DiskBackend,
  content: KnownContent,
): Promise<'intact' | 'damaged' | 'missing'> {
  const small = await readSmall(store, content.sha256)
  if (small !== undefined) return hash('sha256', small, 'hex') === content.sha256 ? 'intact' : 'damaged'
  return stateOf(content, async (start, end) => backend.stream(content.sha256, start, end), Infinity)
}
