// The rows of a file into a table, batch after batch; after each it is noted how far that came.

import { forwardBatchRows } from '../api/forward-items.ts'
import type { Tables } from '../api/table-types.ts'
import type { FileRows } from './file-rows.ts'
import type { ForwardedContent, ForwardedContents } from './forwarded-contents.ts'

export interface SendRowsOptions {
  readonly tables: Pick<Tables, 'forward'>
  readonly tableId: string
  readonly contents: ForwardedContents
  /** As people read it (ms). */
  readonly now: () => number
  /** Rows of one call. Default 500. */
  readonly batchRows?: number
  /** Told after each call how many rows it brought in. */
  readonly onBatch: (rows: number) => void
}

/** How far one file came. */
export interface SentRows {
  /** Rows that are in, from the first. */
  done: number
  readonly assetIds: string[]
  /** The service's own words for the last batch. */
  message: string
}

/** Sends what is behind `sent.done`, and counts there. Rejects as `Tables.forward` and `ForwardedContents.note` do, or with the signal's reason. */
export async function sendRows(
  { tables, tableId, contents, now, batchRows = forwardBatchRows, onBatch }: SendRowsOptions,
  file: string,
  rows: FileRows,
  sent: SentRows,
  signal: AbortSignal,
): Promise<void> {
  while (sent.done < rows.count) {
    const batch = await rows.items(sent.done, sent.done + batchRows)
    const { assetIds, message } = await tables.forward(tableId, batch, { signal })
    sent.assetIds.push(...assetIds)
    sent.message = message
    sent.done += batch.length
    onBatch(batch.length)
    const digest = await rows.digestOfFirst(sent.done)
    const at = new Date(now()).toISOString()
    await contents.note(tableId, { file, rows: sent.done, total: rows.count, digest, at })
  }
}

/** Why nothing is sent of a file that is in the table, and what to do about it. */
export function alreadyInWords({ file, total, at }: ForwardedContent): string {
  const all = total === 1 ? 'its one row was' : `its ${total} rows were`
  return `nothing is sent: ${all} forwarded to this table before (${file}, ${at}); docmount forward --again sends them once more`
}
