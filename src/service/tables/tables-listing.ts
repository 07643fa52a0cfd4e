// The answer to GET /tables: as many tables as there are, a few at a time, so that neither memory nor the event loop is taken
// for long.

import { Readable } from 'node:stream'
import type { TableRow, TablesStore } from './database.ts'
import { listTables, tableBody } from './tables-store.ts'

/** Read and written at once, and kept for a reader that does not read: with the largest settings 1 MiB, some 2 ms. */
const pageRows = 4

/** A JSON array: text where it fits one page, else a stream. */
export async function tablesListing(store: TablesStore, projectId: string): Promise<string | Readable> {
  const first = await listTables(store, projectId, pageRows)
  if (first.length < pageRows) return `[${textOf(first)}]`
  return Readable.from(pages())

  async function* pages(): AsyncGenerator<Buffer> {
    yield Buffer.from(`[${textOf(first)}`)
    for (let page = first; page.length === pageRows;) {
      // The store answers at once: without this turn other requests would wait for all of it.
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
