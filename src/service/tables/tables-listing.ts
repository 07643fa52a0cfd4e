// The response to GET /tables: all tables, read and sent a few at a time, so that a long listing takes little memory and does
// not block the event loop.

import { Readable } from 'node:stream'
import type { TableRow, TablesStore } from './database.ts'
import { listTables, tableBody } from './tables-store.ts'

/** Tables per page. With the largest settings a page is 1 MiB, which waits in memory for a slow client, and takes 2 ms to make. */
const pageRows = 4

/** Returns a JSON array: text if it fits into one page, else a stream. */
export async function tablesListing(store: TablesStore, projectId: string): Promise<string | Readable> {
  const first = await listTables(store, projectId, pageRows)
  if (first.length < pageRows) return `[${textOf(first)}]`
  return Readable.from(pages())

  async function* pages(): AsyncGenerator<Buffer> {
    yield Buffer.from(`[${textOf(first)}`)
    for (let page = first; page.length === pageRows;) {
      // Queries of the embedded store are synchronous: without this pause other requests would wait for the whole listing.
      await new Promise((resolve) => setImmediate(resolve))
      page = await listTables(store, projectId, pageRows, page.at(-1))
      if (page.length > 0) yield Buffer.from(`,${textOf(page)}`)
    }
    yield Buffer.from(']')
  }
}

function textOf(rows: readonly TableRow[]): string {
  return rows.map((row) => JSON.stringify(tableBody(row))).join(',')
}
