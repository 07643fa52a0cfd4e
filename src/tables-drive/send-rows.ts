// Sends the rows of a file to a table, batch by batch, and records the progress after each batch.

import { forwardBatchRows } from '../api/forward-items.ts'
import type { Tables } from '../api/table-types.ts'
import type { FileRows } from './file-rows.ts'
import type { ForwardedContent, ForwardedContents } from './forwarded-contents.ts'

export interface SendRowsOptions {
  readonly tables: Pick<Tables, 'forward'>
  readonly tableId: string
  /** Record of progress; undefined if rows before `sent.done` were left out. */
  readonly contents: ForwardedContents | undefined
  /** Wall clock, epoch ms. */
  readonly now: () => number
  /** Rows per call of the service. Default: 500. */
  readonly batchRows?: number
  /** Called after each batch with its number of rows. */
  readonly onBatch: (rows: number) => void
}

/** The progress of one file. */
export interface SentRows {
  /** Number of the first rows that are in the table. */
  done: number
  readonly assetIds: string[]
  /** The service's message about the last batch. */
  message: string
}

/** Sends the rows after `sent.done`, and updates `sent`. Rejects as `forward` and `note`, or with the signal's reason. */
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
    if (contents === undefined) continue
    const digest = await rows.digestOfFirst(sent.done)
    const at = new Date(now()).toISOString()
    await contents.note(tableId, { file, rows: sent.done, total: rows.count, digest, at })
  }
}

/** The message about a file that is not sent, because the table has all its rows; it says how to send it again. */
export function alreadyInWords({ file, total, at }: ForwardedContent): string {
  const all = total === 1 ? 'its one row was' : `its ${total} rows were`
  return `nothing is sent: ${all} forwarded to this table before (${file}, ${at}); docmount forward --again sends them once more`
}
