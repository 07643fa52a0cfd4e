// Copies all rows of a move in one transaction, so that the target has all or none of them. In the transaction they are read
// back and compared.

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
  /** Identifies the move, so that a repeated one changes nothing. */
  readonly id: string
  /** The source's secret for links. */
  readonly secret: Buffer
  readonly now: number
  /** Damaged contents to which rows refer. */
  readonly damaged: readonly WholeContent[]
}

/** Copies the rows, unless this move has done so; returns the numbers in the target. Throws a MoveError where it was not empty. */
export async function moveRows(source: MoveSource, store: Store, move: RowMove): Promise<MovedRows> {
  return store.transaction().execute(async (transaction) => {
    // The transaction may take longer than the time limits for requests.
    await sql`set local statement_timeout = 0`.execute(transaction)
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(transaction)
    await sql`lock table projects in exclusive mode`.execute(transaction)
    if (!(await isMoved(transaction, move.id))) await moveAll(transaction, source, move)
    const projects = await countOf(transaction, sql`select count(*) as count from projects`)
    const documents = await countOf(transaction, sql`select count(*) as count from nodes where kind = 'file'`)
    return { projects, documents }
  })
}

/** True when the target has all rows of this move. */
export async function isMoved(store: Store, id: string): Promise<boolean> {
  const rows = await sharedStore(store)
    .selectFrom('upkeep')
    .select('name')
    .where('name', '=', `moved ${id}`)
    .execute()
  return rows.length > 0
}

/** Throws a MoveError where the target has a project. */
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
  // Links that the source has signed stay valid: its secret gets the highest number, and so signs new links, too.
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
  const digest = await digestInTarget(transaction, table, ends)
  if (digest !== sent.digest('hex'))
    throw new MoveError(`the rows of ${name} are others when they are read back`)
}

/** Digest of the table's rows in the target, in the pages in which they were sent, with any rows behind the last page. */
async function digestInTarget(
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
