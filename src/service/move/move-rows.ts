// All rows in one transaction: the other store has everything, or nothing of it. They are read back in it, and compared.

import { createHash } from 'node:crypto'
import { type Transaction, sql } from '../store/kysely.ts'
import type { Database, Store } from '../store/database.ts'
import { adopt, type WholeContent } from '../store/postgres/blobs.ts'
import { sharedStore } from '../store/postgres/database.ts'
import { MoveError } from './move-error.ts'
import type { MoveSource } from './source.ts'
import { type MovedTable, movedTables } from './tables.ts'

export interface MovedRows {
  readonly projects: number
  readonly documents: number
}

export interface RowMove {
  /** Tells the move, so that it is made once. */
  readonly id: string
  readonly secret: Buffer
  readonly now: number
  /** Contents that rows refer to, and that are not what these say. */
  readonly damaged: readonly WholeContent[]
}

/** Throws a MoveError where the store has projects already. */
export async function moveRows(source: MoveSource, store: Store, move: RowMove): Promise<MovedRows> {
  return store.transaction().execute(async (transaction) => {
    // Not bound by what a request may take.
    await sql`set local statement_timeout = 0`.execute(transaction)
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(transaction)
    await sql`lock table projects in exclusive mode`.execute(transaction)
    if (!(await isMoved(transaction, move.id))) await moveAll(transaction, source, move)
    const projects = await countOf(transaction, sql`select count(*) as count from projects`)
    const documents = await countOf(transaction, sql`select count(*) as count from nodes where kind = 'file'`)
    return { projects, documents }
  })
}

/** The other store has everything of this move. */
export async function isMoved(store: Store, id: string): Promise<boolean> {
  const rows = await sharedStore(store)
    .selectFrom('upkeep')
    .select('name')
    .where('name', '=', `moved ${id}`)
    .execute()
  return rows.length > 0
}

/** Throws a MoveError where the store is somebody's. */
export async function refuseUsed(store: Store): Promise<void> {
  const [used] = await store.selectFrom('projects').select('name').limit(1).execute()
  if (used !== undefined)
    throw new MoveError(`the database has projects already (${used.name}): a move needs one that is empty`)
}

async function moveAll(
  transaction: Transaction<Database>,
  source: MoveSource,
  { id, secret, now, damaged }: RowMove,
): Promise<void> {
  await refuseUsed(transaction)
  for (const content of damaged) await adopt(transaction, content, now)
  for (const table of movedTables) await moveTable(transaction, source, table)
  const shared = sharedStore(transaction)
  // Links that are out stay good: it signs from now on.
  const number = await countOf(
    transaction,
    sql`select coalesce(max(number), 0) + 1 as count from link_secrets`,
  )
  await shared.insertInto('link_secrets').values({ number, secret, since: now }).execute()
  await shared
    .insertInto('upkeep')
    .values({ name: `moved ${id}`, done_at: now })
    .execute()
}

async function moveTable(
  transaction: Transaction<Database>,
  source: MoveSource,
  table: MovedTable,
): Promise<void> {
  const { name, columns } = table
  const list = sql.join(columns.map((column) => sql.ref(column)))
  const sent = createHash('sha256')
  const ends = ['']
  for (const end of source.pageEnds(table)) {
    const rows = source.rows(table, ends.at(-1)!, end)
    add(sent, table, rows)
    await sql`insert into ${sql.table(name)} (${list})
      select ${list} from json_populate_recordset(null::${sql.table(name)}, ${JSON.stringify(rows)}::json)`.execute(
      transaction,
    )
    ends.push(end)
  }
  const digest = await digestThere(transaction, table, ends)
  if (digest !== sent.digest('hex'))
    throw new MoveError(`the rows of ${name} are others when they are read back`)
}

/** In the pages it was sent in, and whatever follows the last of them. */
async function digestThere(
  transaction: Transaction<Database>,
  table: MovedTable,
  ends: readonly string[],
): Promise<string> {
  const found = createHash('sha256')
  const key = sql.raw(table.key)
  const list = sql.join(table.columns.map((column) => sql.ref(column)))
  for (const [at, last] of ends.entries()) {
    const end = ends[at + 1]
    const isWithin = end === undefined ? sql`true` : sql`${key} <= ${end}`
    const { rows } = await sql<Record<string, unknown>>`select ${list}
      from ${sql.table(table.name)} where ${key} > ${last} and ${isWithin} order by ${key}`.execute(
      transaction,
    )
    add(found, table, rows)
  }
  return found.digest('hex')
}

function add(
  hash: ReturnType<typeof createHash>,
  { columns }: MovedTable,
  rows: readonly Readonly<Record<string, unknown>>[],
): void {
  for (const row of rows) hash.update(JSON.stringify(columns.map((column) => row[column])))
}

async function countOf(
  transaction: Transaction<Database>,
  query: ReturnType<typeof sql<{ count: number }>>,
): Promise<number> {
  return (await query.execute(transaction)).rows[0]!.count
}
