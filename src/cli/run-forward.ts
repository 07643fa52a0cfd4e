// Implements `docmount forward`: reads a file of rows, and sends those that were not sent before, in batches.

import { basename } from 'node:path'
import { isOutcomeUnknown } from '../api/errors.ts'
import { CommandError } from './command-error.ts'
import { forwardedFolder } from '../daemon/xdg.ts'
import type { FileRows } from '../tables-drive/file-rows.ts'
import { ForwardedContents } from '../tables-drive/forwarded-contents.ts'
import { alreadyInWords, sendRows } from '../tables-drive/send-rows.ts'
import { systemDisk } from '../world/disk.ts'
import { exitCodes } from './exit-codes.ts'
import { printJson } from './output.ts'
import { startProgress } from './progress.ts'
import { readRows } from './read-rows.ts'
import { exitCodeOf } from './report-error.ts'
import { UsageError } from './usage-error.ts'
import { type TableOptions, tableIdOf, withTables } from './with-tables.ts'

export interface ForwardOptions extends TableOptions {
  readonly nameColumn?: string
  readonly skip: number
  readonly batch: number
  readonly again?: boolean
  readonly json?: boolean
  readonly quiet?: boolean
}

/** Throws UsageError if there are no rows to send; if a batch fails, a CommandError that says how many rows the table has now. */
export async function runForward(table: string, file: string, options: ForwardOptions): Promise<void> {
  const result = await withTables(options, async (tables, signal) => {
    const rows = await readRows(file, options.nameColumn, signal)
    try {
      const tableId = await tableIdOf(tables, table, signal)
      return await forward({ ...options, tables, tableId, table, file: basename(file), rows }, signal)
    } finally {
      rows.close()
    }
  })
  const { assetIds, message } = result
  if (options.json === true) printJson({ assets_created: assetIds.length, asset_ids: assetIds, message })
  else if (options.quiet !== true) console.error(message)
}

interface Forwarding extends ForwardOptions, Pick<Parameters<typeof sendRows>[0], 'tables' | 'tableId'> {
  readonly table: string
  readonly file: string
  readonly rows: FileRows
}

async function forward(
  { tables, tableId, table, file, rows, again, skip, batch, quiet }: Forwarding,
  signal: AbortSignal,
): Promise<{ assetIds: readonly string[]; message: string }> {
  const contents = new ForwardedContents(systemDisk, forwardedFolder())
  const known = again === true ? undefined : await contents.find(tableId, { name: file, ...rows })
  if (known?.rows === rows.count) return { assetIds: [], message: alreadyInWords(known) }
  if (rows.count <= skip) throw new UsageError(`${file} holds ${rows.count} rows: nothing to forward`)
  const before = Math.max(skip, known?.rows ?? 0)
  // Rows that are left out are not in the table, so that nothing of this file is recorded as its first rows.
  const leavesOut = skip > (known?.rows ?? 0)
  // Updated by `sendRows` after each batch, so that it is right after a failure, too.
  const sent = { done: before, assetIds: [], message: '' }
  const progress = startProgress(table, {
    total: rows.count - before,
    format: (count) => `${count} rows`,
    isQuiet: quiet,
  })
  const onBatch = (count: number): void => progress.add(count)
  try {
    await sendRows(
      {
        tables,
        tableId,
        contents: leavesOut ? undefined : contents,
        now: Date.now,
        batchRows: batch,
        onBatch,
      },
      file,
      rows,
      sent,
      signal,
    )
  } catch (error) {
    throw errorWithCounts(error, { done: sent.done, batch, total: rows.count, leavesOut })
  } finally {
    progress.end()
  }
  const isOneBatch = rows.count - before <= batch
  const summary = isOneBatch ? sent.message : `${sent.assetIds.length} assets created`
  const message = known === undefined ? summary : `${summary}; the first ${known.rows} rows were in before`
  return { assetIds: sent.assetIds, message }
}

/** Returns the error with the number of rows that are in the table, and of those whose outcome is unknown. */
function errorWithCounts(
  error: unknown,
  at: { done: number; batch: number; total: number; leavesOut: boolean },
): unknown {
  if (!(error instanceof Error)) return error
  const { done, batch, total, leavesOut } = at
  const goOn = leavesOut ? `go on with --skip ${done}` : 'the same command continues after them'
  const advice = [
    ...(isOutcomeUnknown(error)
      ? [`whether rows ${done + 1} to ${Math.min(done + batch, total)} are in is not known`]
      : []),
    ...(done === 0 ? [] : [`${done} of ${total} rows are in${leavesOut ? ' or left out' : ''}; ${goOn}`]),
  ]
  if (advice.length === 0) return error
  const isTemporary = exitCodeOf(error) === exitCodes.temporary
  return new CommandError([error.message, ...advice].join('; '), { cause: error, isTemporary })
}
